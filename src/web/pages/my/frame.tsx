/** Pages of one's own work: their tabs, and who may see them. */
import type { ComponentChildren } from "preact";
import type { Page, PageRequest, Redirect } from "../../page.js";
import { signInFirst } from "../upload.js";

const TABS = [
  ["/my", "Overview"],
  ["/my/records", "Records"],
  ["/my/uploads", "Uploads"],
  ["/my/references", "References"],
  ["/my/access", "Access"],
  ["/my/groups", "Groups and projects"],
  ["/my/profile", "Profile and tokens"],
] as const;

function Tabs({ current }: { current: string }) {
  return (
    <nav aria-label="My work">
      <ul class="tabs">
        {TABS.map(([href, text]) => (
          <li>
            <a href={href} aria-current={href === current ? "page" : undefined}>
              {text}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A page of the signed-in user; others sign in first and come back. */
export function own(show: (request: PageRequest) => Promise<Page | Redirect>) {
  return async (request: PageRequest): Promise<Page | Redirect> =>
    signInFirst(request) ?? show(request);
}

/** A page below the tabs of one's own work. */
export const pageOf = (
  title: string,
  tab: string,
  body: ComponentChildren,
  status = 200,
): Page => ({
  status,
  title,
  section: "my",
  body: (
    <>
      <h1>{title}</h1>
      <Tabs current={tab} />
      {body}
    </>
  ),
});

export const STATUSES: Readonly<Record<string, string>> = {
  DRAFT: "drafts",
  PUBLISHED: "public",
  EMBARGOED: "embargoed",
  ARCHIVED: "archived",
};
