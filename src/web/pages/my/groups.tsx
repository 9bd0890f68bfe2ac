/** Groups and projects that one is in. */
import { Field, Form, Notice, Section } from "../../components.js";
import { RecordLink } from "../../record-components.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { type Problem, problemOf } from "../../problems.js";
import {
  AddGroupMemberDocument,
  CreateGroupDocument,
  MyGroupsDocument,
  type MyGroupsQuery,
  RemoveGroupMemberDocument,
} from "../../documents.js";
import { own, pageOf } from "./frame.js";
import { personCalled } from "./people.js";

async function groupsPage(request: PageRequest, problem: Problem = { fields: {} }): Promise<Page> {
  const { ask, csrf, form, viewer } = request;
  const { me } = await ask(MyGroupsDocument, {});
  const projects = me?.projects.nodes ?? [];
  const page = pageOf(
    "Groups and projects",
    "/my/groups",
    <>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <datalist id="picker-options" />
      <Section title="Groups">
        <p>Members of a group may change what the group owns, and read its drafts.</p>
        {me?.organizations.nodes.map((node) =>
          "members" in node ? (
            <GroupPanel group={node} {...{ csrf, problem }} sent={form} viewer={viewer!.id} />
          ) : null,
        )}
        <NewGroup csrf={csrf} sent={form} problem={problem} />
      </Section>
      <Section title="Projects">
        {projects.length === 0 ? (
          <p>
            You are in no project. <a href="/new/project">Create one.</a>
          </p>
        ) : (
          <ul>
            {projects.map((node) => (
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
  return { ...page, scripts: ["picker"] };
}

type Group = Extract<
  NonNullable<MyGroupsQuery["me"]>["organizations"]["nodes"][number],
  { members: unknown }
>;

/** A group with its members, who may be changed by its owner. */
function GroupPanel({
  group,
  csrf,
  viewer,
  sent,
  problem,
}: {
  group: Group;
  csrf: string | null;
  viewer: string;
  sent: URLSearchParams;
  problem: Problem;
}) {
  // What was sent about another group says nothing about this one.
  const isSent = sent.get("group") === group.id && sent.get("action") === "add";
  return (
    <article class="panel">
      <h3>
        <RecordLink record={{ ...group, kind: "GROUP" }} glyph />
      </h3>
      <ul>
        {group.members.nodes.map((member) => (
          <li>
            <RecordLink record={member} />{" "}
            {group.owner?.id === viewer && (
              <Form csrf={csrf} class="inline">
                <input type="hidden" name="group" value={group.id} />
                <input type="hidden" name="user" value={member.id} />
                <button class="link" name="action" value="remove">
                  remove
                </button>
              </Form>
            )}
          </li>
        ))}
      </ul>
      {group.owner?.id === viewer && (
        <Form csrf={csrf}>
          <input type="hidden" name="group" value={group.id} />
          <Field
            id={`add-${group.id}`}
            label="New member"
            name="user"
            value={isSent ? (sent.get("user") ?? "") : ""}
            required
            picker="USER"
            help="The name or the whole e-mail address of somebody with an account here."
            error={isSent ? problem.fields["user"] : undefined}
          />
          <button class="secondary" name="action" value="add">
            Add
          </button>
        </Form>
      )}
      <p>
        <a href={`/my/records?of=${encodeURIComponent(group.id)}`}>Records of the group</a>
      </p>
    </article>
  );
}

function NewGroup({
  csrf,
  sent,
  problem,
}: {
  csrf: string | null;
  sent: URLSearchParams;
  problem: Problem;
}) {
  return (
    <Form csrf={csrf} data-keep="group">
      <h3>New group</h3>
      <Field
        label="Name"
        name="name"
        value={sent.get("name") ?? ""}
        required
        error={problem.fields["name"]}
      />
      <Field
        label="Description"
        name="description"
        value={sent.get("description") ?? ""}
        required
        error={problem.fields["description"]}
      />
      <button name="action" value="create">
        Create the group
      </button>
    </Form>
  );
}

async function changeGroups(request: PageRequest): Promise<Page | Redirect> {
  const { ask, form, viewer } = request;
  const [group, user] = [form.get("group") ?? "", (form.get("user") ?? "").trim()];
  try {
    if (form.get("action") === "add") {
      const person = await personCalled(request, user);
      await ask(AddGroupMemberDocument, { group, user: person });
    } else if (form.get("action") === "remove")
      await ask(RemoveGroupMemberDocument, { group, user });
    else
      await ask(CreateGroupDocument, {
        group: {
          name: form.get("name") ?? "",
          description: form.get("description") ?? "",
          owner: viewer!.id,
          members: [viewer!.id],
        },
      });
  } catch (error) {
    const problem = problemOf(error);
    // What is wrong with an addition stands beside the field of its group.
    const isAddition = form.get("action") === "add" && problem.form !== undefined;
    return groupsPage(request, isAddition ? { fields: { user: problem.form! } } : problem);
  }
  return { redirect: "/my/groups" };
}

export const groupsRoute: Route = {
  path: "/my/groups",
  get: own((request) => groupsPage(request)),
  post: own(changeGroups),
};
