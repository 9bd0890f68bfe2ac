"""Harvests a registry as others do. Reads a JSON file, writes one: see test/judges/harvest.slow.test.ts."""

import json
import logging
import sys

logging.disable(logging.CRITICAL)
with open(sys.argv[1], encoding="utf-8") as file:
    asked = json.load(file)


def with_sickle(url, arguments):
    from sickle import Sickle
    from sickle.oaiexceptions import NoRecordsMatch

    client = Sickle(url, http_method=asked.get("method", "GET"))
    try:
        return client, client.ListRecords(**arguments), NoRecordsMatch
    except NoRecordsMatch:
        return client, [], NoRecordsMatch


def harvested(url, tool, arguments):
    """[identifier, whether deleted, datestamp, titles] of each record, in the order received."""
    if tool == "sickle":
        client, records, none = with_sickle(url, arguments)
    else:
        from oaipmh_scythe import Scythe
        from oaipmh_scythe.exceptions import NoRecordsMatch as none

        client = Scythe(url)
        records = client.list_records(
            metadata_prefix=arguments["metadataPrefix"],
            from_=arguments.get("from"),
            until=arguments.get("until"),
            set_=arguments.get("set"),
        )
    found = []
    try:
        for record in records:
            header = record.header
            metadata = None if header.deleted else record.metadata
            titles = (metadata or {}).get("title")
            found.append([header.identifier, header.deleted, header.datestamp, titles])
    except none:
        pass
    return found


def described(url):
    """What both tools say of the repository."""
    from oaipmh_scythe import Scythe
    from sickle import Sickle

    one, other = Sickle(url), Scythe(url)
    return {
        "name": [one.Identify().repositoryName, other.identify().repositoryName],
        "formats": [
            [each.metadataPrefix for each in one.ListMetadataFormats()],
            [each.metadataPrefix for each in other.list_metadata_formats()],
        ],
        "sets": [
            [each.setSpec for each in one.ListSets()],
            [each.setSpec for each in other.list_sets()],
        ],
    }


def sitemap(url):
    from usp.tree import sitemap_tree_for_homepage

    tree = sitemap_tree_for_homepage(url, use_known_paths=False)
    broken = [each.url for each in tree.all_sitemaps() if type(each).__name__ == "InvalidSitemap"]
    pages = [[page.url, page.last_modified.isoformat()] for page in tree.all_pages()]
    return {"pages": pages, "broken": broken}


answer = None
if asked["task"] == "harvest":
    answer = harvested(asked["url"], asked["tool"], asked["arguments"])
elif asked["task"] == "describe":
    answer = described(asked["url"])
elif asked["task"] == "sitemap":
    answer = sitemap(asked["url"])
with open(sys.argv[2], "w", encoding="utf-8") as file:
    json.dump(answer, file)
