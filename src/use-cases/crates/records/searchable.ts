import type { JsonObject, JsonValue } from "../../../model/field.js";
import type { SearchText } from "../../../stores/records/port.js";
import { MOST_TEXT, withoutArks } from "../../records/stated.js";
import { isObject, listOf } from "../json-path.js";

export const NO_TEXT: SearchText = { name: "", description: "", keywords: "", other: "" };

/** The first text of a value that may be a list or carry a language. */
export function firstText(value: JsonValue | undefined): string | null {
  for (const item of listOf(value)) {
    const text = isObject(item) ? item["@value"] : item;
    if (typeof text === "string" && text !== "") return text;
  }
  return null;
}

export function keywordsOf(value: JsonValue | undefined): string[] {
  if (typeof value === "string") return value.split(",").map((word) => word.trim()).filter((word) => word !== "");
  return listOf(value).filter((word): word is string => typeof word === "string" && word !== "");
}

/** What keyword search sees of an entity. */
export function searchTextOf(document: JsonObject): SearchText {
  const texts = (key: string) => listOf(document[key]).map((value) => firstText(value) ?? "").filter((text) => text !== "");
  return {
    name: texts("name").join(" ").slice(0, MOST_TEXT),
    description: texts("description").join(" ").slice(0, MOST_TEXT),
    keywords: keywordsOf(document["keywords"]).join(" ").slice(0, MOST_TEXT),
    other: ["author", "alternateName", "identifier"].flatMap(texts).map(withoutArks).join(" ").slice(0, MOST_TEXT),
  };
}
