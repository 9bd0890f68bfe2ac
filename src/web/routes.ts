import type { Route } from "./page.js";
import { accountRoutes } from "./pages/account.js";
import { explorerRoutes } from "./pages/explorers.js";
import { homeRoutes } from "./pages/home.js";
import { searchRoutes } from "./pages/search.js";
import { textRoutes } from "./pages/text.js";
import { uploadRoutes } from "./pages/upload.js";

/** Every page with an address of its own; the first route that matches counts. */
export const ROUTES: readonly Route[] = [
  ...homeRoutes,
  ...accountRoutes,
  ...searchRoutes,
  ...uploadRoutes,
  ...textRoutes,
  ...explorerRoutes,
];
