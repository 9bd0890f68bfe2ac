/** Groups and projects that one is in. */
import { nameText } from "../../../model/labels.js";
import { plainText } from "../../../model/texts.js";
import { Empty, Field, Form, Notice, Section } from "../../components.js";
import {
  AddGroupMemberDocument,
  CreateGroupDocument,
  MyGroupsDocument,
  type MyGroupsQuery,
  RemoveGroupMemberDocument,
} from "../../documents.js";
import { type Names, namesOf } from "../../format.js";
import type { Page, PageRequest, Redirect, Route } from "../../page.js";
import { withQuery } from "../../paths.js";
import { type Problem, problemOf } from "../../problems.js";
import { type Named, RecordLink, StatusBadge } from "../../record-components.js";
import { kindText, shortened } from "../../words.js";
import { type Collective, Members, OwnedNumbers, readCollective, Rights } from "../collective.js";
import { own, pageOf } from "./frame.js";
import { personCalled } from "./people.js";

/** Groups whose members and records are shown; of further ones only the names. */
const MAX_OPEN = 20;

async function groupsPage(request: PageRequest, problem: Problem = { fields: {} }): Promise<Page> {
  const { ask, csrf, form, query, viewer } = request;
  const { me } = await ask(MyGroupsDocument, {});
  const groups = me?.organizations.nodes ?? [];
  const projects = me?.projects.nodes ?? [];
  const open = await Promise.all(
    groups.slice(0, MAX_OPEN).map(({ id }) => readCollective(request, id)),
  );
  const names = await namesOf(ask, query.getAll("removed").slice(0, 1));
  const page = pageOf(
    "Groups and projects",
    "/my/groups",
    <>
      {problem.form !== undefined && <Notice tone="danger">{problem.form}</Notice>}
      <Done query={query} groups={open} names={names} />
      <datalist id="picker-options" />
      <Section title="Groups">
        {groups.length === 0 && (
          <Empty title="You are in no group.">
            <p>{PURPOSE} Create one below, or ask the owner of a group to add you.</p>
          </Empty>
        )}
        {open.map(
          (group, index) =>
            group && (
              <GroupPanel
                group={group}
                description={groups[index]!.description}
                {...{ csrf, problem }}
                sent={form}
                viewer={viewer!.id}
              />
            ),
        )}
        <NameList records={groups.slice(MAX_OPEN)} />
        <NewGroup csrf={csrf} sent={form} problem={problem} />
      </Section>
      <Section title="Projects">
        {projects.length === 0 ? (
          <p>
            You are in no project. <a href="/new/project">Create one.</a>
          </p>
        ) : (
          <NameList records={projects} />
        )}
      </Section>
    </>,
    problem.form !== undefined || Object.keys(problem.fields).length > 0 ? 422 : 200,
  );
  return { ...page, scripts: ["picker"] };
}

const PURPOSE =
  "A group owns records together: each member may read and change them, and they stay with the " +
  "group when somebody leaves.";

type Mine = NonNullable<MyGroupsQuery["me"]>["projects"]["nodes"];

const NameList = ({ records }: { records: Mine }) =>
  records.length > 0 && (
    <ul class="records">
      {records.map((record) => (
        <li>
          <RecordLink record={record} glyph />
          {record.description && (
            <span class="quiet"> {shortened(plainText(record.description), 120)}</span>
          )}
        </li>
      ))}
    </ul>
  );

/** What was done, as far as the group shows that it is so. */
function Done(props: { query: URLSearchParams; groups: (Collective | null)[]; names: Names }) {
  const { query, groups, names } = props;
  const group = groups.find((each) => each?.id === query.get("group"));
  if (!group) return null;
  const name = <bdi>{shortened(nameText(group), 80)}</bdi>;
  const [added, removed] = [query.get("added"), query.get("removed")];
  const member = group.members.nodes.find(({ id }) => id === (added ?? removed));
  if (added !== null)
    return member ? (
      <Notice tone="success">
        <RecordLink record={member} /> is a member of {name}.
      </Notice>
    ) : null;
  if (removed !== null)
    return member || !names.has(removed) ? null : (
      <Notice tone="success">
        <RecordLink record={{ id: removed, ...names.get(removed) }} /> is no member of {name} any
        more.
      </Notice>
    );
  return (
    <Notice tone="success">
      {name} was created. Add its members by name, then hand records over to it.
    </Notice>
  );
}

/** A group with its members, who may be changed by its owner, and what it owns. */
function GroupPanel({
  group,
  description,
  csrf,
  viewer,
  sent,
  problem,
}: {
  group: Collective;
  description: string | null;
  csrf: string | null;
  viewer: string;
  sent: URLSearchParams;
  problem: Problem;
}) {
  // What was sent about another group says nothing about this one.
  const isSent = sent.get("group") === group.id && sent.get("action") === "add";
  const isOwner = group.kind === "GROUP" && group.owner?.id === viewer;
  return (
    <article class="panel">
      <h3>
        <RecordLink record={group} glyph />
      </h3>
      {description && <p dir="auto">{shortened(plainText(description), 280)}</p>}
      <Rights collective={group} />
      <h4>Members</h4>
      <Members
        collective={group}
        {...(isOwner && {
          action: (member) => <RemoveMember {...{ csrf, group, member }} />,
        })}
      />
      {isOwner && (
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
            Add the member
          </button>
        </Form>
      )}
      <h4>Records</h4>
      <Owned group={group} />
    </article>
  );
}

function RemoveMember(props: { csrf: string | null; group: Collective; member: Named }) {
  const { csrf, group, member } = props;
  const name = shortened(nameText(member), 80);
  return (
    <Form csrf={csrf} class="inline">
      <input type="hidden" name="group" value={group.id} />
      <input type="hidden" name="user" value={member.id} />
      <button
        class="secondary"
        name="action"
        value="remove"
        aria-label={`Remove ${name}`}
        data-confirm={
          `Remove ${name} from ${shortened(nameText(group), 80)}? What the group owns stays with ` +
          `it; ${name} may no longer change it, nor read its drafts.`
        }
      >
        Remove
      </button>
    </Form>
  );
}

/** What a group owns: numbers, the newest, and the way to all. */
function Owned({ group }: { group: Collective }) {
  const all = `/my/records?of=${encodeURIComponent(group.id)}`;
  const what = kindText(group.kind ?? null).toLowerCase();
  if (group.newest.length === 0)
    return (
      <p>
        The {what} owns no record yet. Choose <a href="/my/records">records of your own</a>, then{" "}
        <strong>Hand over</strong> to give them to the {what}.
      </p>
    );
  return (
    <>
      <OwnedNumbers collective={group} />
      <ul class="records">
        {group.newest.map((record) => (
          <li>
            <RecordLink record={record} glyph />{" "}
            <StatusBadge
              status={record.publicationStatus}
              embargoEndsAt={record.embargoEndsAt}
              visibility={record.visibility}
            />
          </li>
        ))}
      </ul>
      <p>
        <a href={all}>All records of the {what}</a>
      </p>
    </>
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
    <Form csrf={csrf} class="panel" data-keep="group">
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
      const added = await personCalled(request, user);
      await ask(AddGroupMemberDocument, { group, user: added });
      return { redirect: withQuery("/my/groups", { group, added }) };
    }
    if (form.get("action") === "remove") {
      await ask(RemoveGroupMemberDocument, { group, user });
      return { redirect: withQuery("/my/groups", { group, removed: user }) };
    }
    const { createGroup } = await ask(CreateGroupDocument, {
      group: {
        name: form.get("name") ?? "",
        description: form.get("description") ?? "",
        owner: viewer!.id,
        members: [viewer!.id],
      },
    });
    return { redirect: withQuery("/my/groups", { group: createGroup.group.id }) };
  } catch (error) {
    const problem = problemOf(error);
    // What is wrong with an addition stands beside the field of its group.
    const isAddition = form.get("action") === "add" && problem.form !== undefined;
    return groupsPage(request, isAddition ? { fields: { user: problem.form! } } : problem);
  }
}

export const groupsRoute: Route = {
  path: "/my/groups",
  get: own((request) => groupsPage(request)),
  post: own(changeGroups),
};
