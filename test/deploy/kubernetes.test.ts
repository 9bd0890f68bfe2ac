import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.js";
import { packageRoot } from "../../src/package-root.js";
import { checkProfile } from "../../src/app/service.js";
import { SECRETS, unknownSettings, yamlDocuments } from "../support/deployment.js";

const FOLDER = "deploy/kubernetes";
const files = readdirSync(join(packageRoot, FOLDER)).filter((name) => name.endsWith(".yaml"));
const manifests = files.filter((name) => name !== "kustomization.yaml");
const all = manifests.flatMap((name) => yamlDocuments(`${FOLDER}/${name}`));
const ofKind = (kind: string) => all.filter((one) => one["kind"] === kind);
const named = (kind: string, name: string) =>
  ofKind(kind).find((one) => one["metadata"].name === name)!;

/** The schemas of Kubernetes, as the package of PyPI brings them. */
const servers = process.env["TEST_SERVERS"];
const env = { ...process.env, ...(servers === undefined ? {} : { PYTHONPATH: servers }) };
const VALIDATOR = [
  ...(servers === undefined ? [] : [join(servers, "bin", "kubernetes-validate")]),
  "kubernetes-validate",
].find((path) => spawnSync(path, ["--version"], { env }).status === 0);
if (VALIDATOR === undefined)
  process.stderr.write(
    "\n!! SKIPPED: the schemas of Kubernetes are not here; pip install --target FOLDER " +
      "kubernetes-validate==1.37.0, with TEST_SERVERS=FOLDER, to check the manifests by " +
      "them.\n\n",
  );

describe.skipIf(VALIDATOR === undefined)("the manifests, by the schemas of Kubernetes", () => {
  test("contain no unknown field", () => {
    for (const version of ["1.31.0", "1.37.0"]) {
      const { status, stdout, stderr } = spawnSync(
        VALIDATOR as string,
        ["--strict", "-k", version, ...manifests.map((name) => join(packageRoot, FOLDER, name))],
        { encoding: "utf8", env },
      );
      expect([
        version,
        status,
        `${stdout}${stderr}`.split("\n").filter((line) => line !== "" && !line.startsWith("INFO")),
      ]).toEqual([version, 0, []]);
    }
  });
});

describe("the manifests", () => {
  test("are all named by the kustomization, except examples", () => {
    const [kustomization] = yamlDocuments(`${FOLDER}/kustomization.yaml`);
    expect(kustomization!["resources"].toSorted()).toEqual(
      manifests.filter((name) => !name.includes("example")).sort(),
    );
    expect(new Set(all.map((one) => one["metadata"].namespace ?? one["metadata"].name))).toEqual(
      new Set([kustomization!["namespace"]]),
    );
    expect(kustomization!["images"].map(({ name }: { name: string }) => name)).toEqual([
      ...new Set(ofKind("Deployment").map((one) => one["spec"].template.spec.containers[0].image)),
    ]);
  });

  test("fit each other: selectors find pods, and names refer to objects", () => {
    for (const deployment of ofKind("Deployment")) {
      const { selector, template } = deployment["spec"];
      expect(template.metadata.labels).toEqual(selector.matchLabels);
      expect(template.spec.topologySpreadConstraints[0].labelSelector).toEqual(selector);
      for (const { configMapRef, secretRef } of template.spec.containers[0].envFrom) {
        if (configMapRef) expect(named("ConfigMap", configMapRef.name)).toBeDefined();
        if (secretRef) expect(named("Secret", secretRef.name)).toBeDefined();
      }
      const mounted = template.spec.containers[0].volumeMounts.map(
        ({ name }: { name: string }) => name,
      );
      expect(mounted).toEqual(template.spec.volumes.map(({ name }: { name: string }) => name));
    }
    const api = named("Deployment", "arkgraph-api")["spec"];
    expect(named("Service", "arkgraph")["spec"].selector).toEqual(api.selector.matchLabels);
    expect(named("PodDisruptionBudget", "arkgraph-api")["spec"].selector).toEqual(api.selector);
    expect(named("HorizontalPodAutoscaler", "arkgraph-api")["spec"].scaleTargetRef).toEqual({
      apiVersion: "apps/v1",
      kind: "Deployment",
      name: "arkgraph-api",
    });
    // The autoscaler's number would be set back with each apply.
    expect(api.replicas).toBeUndefined();
    for (const policy of ofKind("NetworkPolicy"))
      expect(api.selector.matchLabels).toMatchObject(policy["spec"].podSelector.matchLabels);
  });

  test("define pods that the standard `restricted` admits, with limits and probes", () => {
    expect(
      named("Namespace", "arkgraph")["metadata"].labels["pod-security.kubernetes.io/enforce"],
    ).toBe("restricted");
    for (const {
      spec: {
        template: { spec },
      },
      // eslint-disable-next-line typescript/no-explicit-any -- looked into freely
    } of ofKind("Deployment") as { spec: { template: { spec: Record<string, any> } } }[]) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      });
      expect(spec["hostNetwork"] ?? spec["hostPID"]).toBeUndefined();
      for (const container of spec["containers"]) {
        expect(container).toMatchObject({
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
          resources: {
            requests: { cpu: expect.any(String), memory: expect.any(String) },
            limits: { cpu: expect.any(String), memory: expect.any(String) },
          },
          livenessProbe: { exec: { command: ["node", "-e", expect.stringContaining("/healthz")] } },
          readinessProbe: { httpGet: { path: "/readyz" } },
        });
      }
      // A stop waits SHUTDOWN_GRACE, and preStop before it.
      expect(spec["terminationGracePeriodSeconds"] * 1000).toBeGreaterThan(
        readConfig({}).SHUTDOWN_GRACE + 5000,
      );
    }
  });

  test("set known settings; secrets are named without values", () => {
    const settings = named("ConfigMap", "arkgraph")["data"] as Record<string, string>;
    const secrets = named("Secret", "arkgraph")["stringData"] as Record<string, string>;
    expect(unknownSettings([...Object.keys(settings), ...Object.keys(secrets)])).toEqual([]);
    const given = {
      JWT_SECRET: "0a".repeat(32),
      DATABASE_URL: "postgres://arkgraph:x@db/arkgraph",
      REDIS_URL: "rediss://:x@redis",
      S3_ACCESS_KEY: "x",
      S3_SECRET_KEY: "y",
    };
    expect(Object.keys(secrets)).toEqual(Object.keys(given));
    for (const ROLE of ["api", "worker"])
      expect(() => checkProfile(readConfig({ ...settings, ...given, ROLE }))).not.toThrow();
    for (const name of Object.keys(given))
      expect(
        () => checkProfile(readConfig({ ...settings, ...given, [name]: "", ROLE: "api" })),
        name,
      ).toThrow(/is missing|not set: |are missing/);
    expect(Object.values(secrets).filter((value) => value !== "")).toEqual([]);
    expect(Object.keys(settings).filter((name) => SECRETS.includes(name))).toEqual([]);
    expect(Object.keys(secrets).filter((name) => !SECRETS.includes(name))).toEqual([]);
    for (const name of ["api", "worker"])
      expect(
        named("Deployment", `arkgraph-${name}`)["spec"].template.spec.containers[0].env,
      ).toEqual([{ name: "ROLE", value: name }]);
  });
});
