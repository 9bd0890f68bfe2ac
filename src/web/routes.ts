import type { Route } from "./page.js";
import { accountRoutes } from "./pages/account.js";
import { adminRoutes } from "./pages/admin.js";
import { editRoutes } from "./pages/edit.js";
import { evidenceRoutes } from "./pages/evidence.js";
import { explorerRoutes } from "./pages/explorers.js";
import { helpRoutes } from "./pages/help.js";
import { homeRoutes } from "./pages/home.js";
import { crateRoutes } from "./pages/record/crate.js";
import { filesRoutes } from "./pages/record/files.js";
import { historyRoutes } from "./pages/record/history.js";
import { previewRoutes } from "./pages/record/preview.js";
import { referenceRoutes } from "./pages/record/references.js";
import { relatedRoutes } from "./pages/record/related.js";
import { myRoutes } from "./pages/my.js";
import { newRoutes } from "./pages/new.js";
import { reserveRoutes } from "./pages/reserve.js";
import { searchRoutes } from "./pages/search.js";
import { textRoutes } from "./pages/text.js";
import { uploadRoutes } from "./pages/upload.js";

/** Every page with an address of its own; the first route that matches counts. */
export const ROUTES: readonly Route[] = [
  ...homeRoutes,
  ...accountRoutes,
  ...searchRoutes,
  ...historyRoutes,
  ...crateRoutes,
  ...filesRoutes,
  ...previewRoutes,
  ...relatedRoutes,
  ...referenceRoutes,
  ...myRoutes,
  ...adminRoutes,
  ...newRoutes,
  ...reserveRoutes,
  ...editRoutes,
  ...uploadRoutes,
  ...evidenceRoutes,
  ...textRoutes,
  ...helpRoutes,
  ...explorerRoutes,
];
