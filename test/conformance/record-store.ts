import { afterEach, beforeEach, describe } from "vitest";
import type { RecordStore } from "../../src/storage/records/port.js";
import { accessRequestsConform } from "./records/access-requests.js";
import { accountsConform } from "./records/accounts.js";
import { auditConforms } from "./records/audit.js";
import { reviewLinksConform } from "./records/review-links.js";
import { changesConform } from "./records/changes.js";
import { commitsConform } from "./records/commits.js";
import { crateUsesConform } from "./records/crate-uses.js";
import { disclosedConform } from "./records/disclosed.js";
import { feedConforms } from "./records/feed.js";
import type { Opened, Setting } from "./records/fixtures.js";
import { leasesConform } from "./records/leases.js";
import { linksConform } from "./records/links.js";
import { listsConform } from "./records/lists.js";
import { modelConforms } from "./records/model.js";
import { objectsConform } from "./records/objects.js";
import { recordsConform } from "./records/records.js";
import { quadsConform } from "./records/quads.js";
import { scoresConform } from "./records/scores.js";
import { searchConforms } from "./records/search.js";
import { selectionsConform } from "./records/selections.js";
import { spellingConforms } from "./records/spelling.js";
import { submissionsConform } from "./records/submissions.js";
import { visibilityConforms } from "./records/visibility.js";
import { vectorsConform } from "./records/vectors.js";

export type { Opened } from "./records/fixtures.js";

/**
 * What every record store must do; an adapter's test calls this with a way to open an empty one.
 */
export function recordStoreConformance(name: string, open: () => Promise<Opened>): void {
  describe(`${name} as a record store`, () => {
    let opened: Opened;
    let store: RecordStore;
    beforeEach(async () => {
      opened = await open();
      store = opened.store;
    });
    afterEach(() => opened.destroy());
    const setting: Setting = {
      store: () => store,
      reopen: async () => (store = await opened.reopen()),
    };
    for (const part of [
      recordsConform,
      commitsConform,
      listsConform,
      selectionsConform,
      disclosedConform,
      linksConform,
      spellingConforms,
      feedConforms,
      changesConform,
      accountsConform,
      accessRequestsConform,
      auditConforms,
      reviewLinksConform,
      submissionsConform,
      objectsConform,
      crateUsesConform,
      searchConforms,
      modelConforms,
      leasesConform,
      quadsConform,
      scoresConform,
      vectorsConform,
      visibilityConforms,
    ])
      part(setting);
  });
}
