/** Groups and projects that one is in. */
import { Field, Form, Notice, Section } from "../../components.js";
import { RecordLink } from "../../record-components.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { problemOf } from "../account.js";
import {
  AddGroupMemberDocument,
  CreateGroupDocument,
  MyGroupsDocument,
  RemoveGroupMemberDocument,
} from "../../documents.js";
import { own, pageOf } from "./frame.js";

async function groupsPage(
  request: PageRequest,
  problem: { form?: string; fields: Readonly<Record<string, string>> } = { fields: {} },
): Promise<Page> {
  const { ask, csrf, form, viewer } = request;
  const { me } = await ask(MyGroupsDocument, {});
  const nodes = me?.organizations.nodes ?? [];
  return pageOf(
    "Groups and projects",
    "/my/groups",
    <>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <Section title="Groups">
        <p>Members of a group may change what the group owns, and read its drafts.</p>
        {nodes.map((node) =>
          "members" in node ? (
            <article class="panel">
              <h3>
                <RecordLink record={{ ...node, kind: "GROUP" }} glyph />
              </h3>
              <ul>
                {node.members.nodes.map((member) => (
                  <li>
                    <RecordLink record={member} />{" "}
                    {node.owner?.id === viewer!.id && (
                      <Form csrf={csrf} class="inline">
                        <input type="hidden" name="group" value={node.id} />
                        <input type="hidden" name="user" value={member.id} />
                        <button class="link" name="action" value="remove">
                          remove
                        </button>
                      </Form>
                    )}
                  </li>
                ))}
              </ul>
              <Form csrf={csrf} class="row">
                <input type="hidden" name="group" value={node.id} />
                <label for={`add-${node.id}`}>New member</label>
                <input id={`add-${node.id}`} name="user" placeholder="ark:… of the user" required />
                <button class="secondary" name="action" value="add">
                  Add
                </button>
              </Form>
              <p>
                <a href={`/my/records?group=${encodeURIComponent(node.id)}`}>
                  Records of the group
                </a>
              </p>
            </article>
          ) : null,
        )}
        <Form csrf={csrf} data-keep="group">
          <h3>New group</h3>
          <Field
            label="Name"
            name="name"
            value={form.get("name") ?? ""}
            required
            error={problem.fields["name"]}
          />
          <Field
            label="Description"
            name="description"
            value={form.get("description") ?? ""}
            required
            error={problem.fields["description"]}
          />
          <button name="action" value="create">
            Create the group
          </button>
        </Form>
      </Section>
      <Section title="Projects">
        {(me?.projects.nodes ?? []).length === 0 ? (
          <p>
            You are in no project. <a href="/new/project">Create one.</a>
          </p>
        ) : (
          <ul>
            {me!.projects.nodes.map((node) => (
              <li>
                <RecordLink record={{ ...node, kind: "PROJECT" }} glyph />
              </li>
            ))}
          </ul>
        )}
      </Section>
    </>,
    problem.form !== undefined || Object.keys(problem.fields).length > 0 ? 422 : 200,
  );
}

async function changeGroups(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, viewer } = request;
  const [group, user] = [form.get("group") ?? "", (form.get("user") ?? "").trim()];
  try {
    if (form.get("action") === "add") await ask(AddGroupMemberDocument, { group, user });
    else if (form.get("action") === "remove") await ask(RemoveGroupMemberDocument, { group, user });
    else
      await ask(CreateGroupDocument, {
        input: {
          name: form.get("name") ?? "",
          description: form.get("description") ?? "",
          owner: viewer!.id,
          members: [viewer!.id],
        },
      });
  } catch (error) {
    return groupsPage(request, problemOf(error));
  }
  return { redirect: "/my/groups" };
}

export const groupsRoute: Route = {
  path: "/my/groups",
  get: own((request) => groupsPage(request)),
  post: own(changeGroups),
};
