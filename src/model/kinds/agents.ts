import { ark, arkList, custom, text, textList, type Backlink } from "../field.js";
import type { Kind } from "../kind.js";
import { common, context, defaultType } from "./common.js";

const owned = (kind: string): Backlink => ({ kind, via: ["schema:owner"] });
const list = (term: string, what: string, backlink: Backlink) =>
  textList(term, `${what}; those found from the other side are added when the record is read.`, { nullable: true, link: true, backlink });

/** Lists of what a user or project owns, in the contract's order of names. */
const holdings = {
  datasets: list("schema:datasets", "Datasets", owned("dataset")),
  rocrates: list("schema:rocrates", "Crates", owned("rocrate")),
  software: list("schema:software", "Software", owned("software")),
  computations: list("schema:computations", "Computations", owned("computation")),
  evidencegraphs: list("schema:evidencegraphs", "Evidence graphs", owned("evidencegraph")),
};

export const user: Kind = {
  name: "user", typeName: "User", plural: "users", path: "user", rdfClass: "schema:Person", closed: true,
  description: "A person with an account. E-mail address and account data are shown to the person and administrators only.",
  fields: {
    "@context": context("object"),
    "@type": defaultType("Person"),
    name: text("schema:name", "Name of the person, at most 200 characters.", { maxLength: 200 }),
    email: text("schema:email", "E-mail address; unique, also the login name.", { required: true, minLength: 3, maxLength: 254, private: true }),
    password: text("evi:password", "Password; kept as an argon2id hash only. A new one has at least PASSWORD_MIN_LENGTH characters (8) and is not among the 10,000 most used.", { required: true, minLength: 1, maxLength: 1024, secret: true }),
    adminToken: text("evi:adminToken", "The one-time token that the first start prints; makes the account an administrator.", { secret: true, maxLength: 200 }),
    organizations: list("schema:organizations", "Organizations", { kind: ["organization", "group"], via: ["schema:member", "schema:owner"] }),
    projects: list("schema:projects", "Projects", { kind: "project", via: ["schema:member", "schema:owner"] }),
    ...holdings,
  },
};

const members = arkList("schema:member", "Members: users, or groups of users.");

export const group: Kind = {
  name: "group", typeName: "Group", plural: "groups", path: "group", rdfClass: "schema:Organization",
  description: "A set of users that may own records together.",
  fields: { "@context": context("object"), "@type": defaultType("Organization"), ...common, members },
};

export const organization: Kind = {
  name: "organization", typeName: "Organization", plural: "organizations", path: "organization", rdfClass: "schema:Organization",
  description: "An organization with members and projects.",
  fields: {
    "@context": context("object"), "@type": defaultType("Organization"), ...common,
    members: { ...members, nullable: true },
    projects: arkList("schema:projects", "Projects of the organization; those that name it in `memberOf` are added when the record is read.", {
      nullable: true, backlink: { kind: "project", via: ["schema:memberOf"] },
    }),
  },
};

const holding = (name: keyof typeof holdings) =>
  custom("stringList", holdings[name].term, holdings[name].description, {
    ark: true, nullable: true, required: true, ...(holdings[name].backlink ? { backlink: holdings[name].backlink } : {}),
  });

export const project: Kind = {
  name: "project", typeName: "Project", plural: "projects", path: "project", rdfClass: "schema:Project",
  description: "A project of an organization, with its members and records.",
  fields: {
    "@context": context(), "@type": defaultType("Project"), ...common, members,
    memberOf: ark("schema:memberOf", "Organization that the project belongs to.", { required: true }),
    datasets: holding("datasets"), computations: holding("computations"), software: holding("software"),
    evidencegraphs: holding("evidencegraphs"), rocrates: holding("rocrates"),
  },
};
