import { describe, expect, test } from "vitest";
import { PAGE_POLICY } from "../../src/http/reply.js";
import { graphqlPage } from "../../src/web/pages.js";

describe("the page at /graphql", () => {
  test("is the explorer where the build provides its files, and loads this server's files only", () => {
    const { html, policy } = graphqlPage(PAGE_POLICY);
    expect(html).toMatch(/"\/assets\/graphiql\/graphiql\.min\.[0-9a-f]{12}\.js"/);
    expect(
      [...html.matchAll(/(?:src|href)="([^"]+)"/g)].every(([, target]) => target!.startsWith("/")),
    ).toBe(true);
    expect(html).not.toMatch(/<script>|<script [^>]*>[^<]|\son\w+=/);
    expect(policy).toContain("script-src 'self';");
  });

  test("is a simple form where they are not", () => {
    expect(graphqlPage(PAGE_POLICY, "/nowhere").html).toContain('<textarea id="query"');
  });
});
