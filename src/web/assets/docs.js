window.ui = SwaggerUIBundle({ url: "/openapi.json", dom_id: "#swagger-ui", deepLinking: true, tryItOutEnabled: true, validatorUrl: null, defaultModelsExpandDepth: 0 });
