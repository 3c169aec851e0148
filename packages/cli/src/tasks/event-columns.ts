// Events as lines for people.
import { objectIn, textIn } from "../api/json-fields.ts";
import type { JsonObject } from "../api/rest.ts";
import type { PathOf } from "../api/uid-paths.ts";
import type { Color } from "../output/color.ts";
import type { Listing } from "../output/listing.ts";

// The areas that follow what all types of an installation begin with. Source: the options of proto/.
const AREA = /(?:^|\.)(?:advisory|api|events|registry|scanner|vulnerabilities)\../;
const SHORT = "sha256:".length + 12;

/** Events: when, what, to what, by whom. */
export const EVENTS: Listing = {
  field: "events",
  columns: [
    { header: "TIME", kind: "time", value: (event) => textIn(event, "time") },
    {
      header: "EVENT",
      value: (event) => shownType(shortType(textIn(event, "type"))),
      color: colorOf,
    },
    { header: "WHAT", flexible: true, value: whatOf },
    {
      header: "WHO",
      flexible: true,
      value: (event, pathOf) => (textIn(event, "actor") === "" ? "" : pathOf(textIn(event, "actor"), "identity")),
    },
    { header: "ID", wide: true, value: (event) => textIn(event, "id") },
  ],
  nameOf: (event) => textIn(event, "id"),
  idOf: (event) => textIn(event, "id"),
};

/** A type without what all types of the installation begin with. */
export function shortType(type: string): string {
  const start = type.search(AREA);
  return start < 0 ? type : type.slice(start).replace(/^\./, "");
}

/** A short type as the feed shows it: `iam.identity.created` of `api.iam.identity.created.v1`. */
export function shownType(type: string): string {
  return type.replace(/^api\.(?:platform\.)?/, "").replace(/\.v\d+$/, "");
}

/** Whether a type begins with one of the areas. */
export function isShortType(type: string): boolean {
  return AREA.exec(`${type}.`)?.index === 0;
}

function colorOf(event: JsonObject): Color | undefined {
  const type = textIn(event, "type");
  if (/\.(?:deleted|delete|collect|rejected|failed|closed)\.|version_moved/.test(type)) return "red";
  return /\.(?:push|created|accepted|registered)\./.test(type) ? "green" : undefined;
}

/** The image that it is about, or else the path of its subject. */
function whatOf(event: JsonObject, pathOf: PathOf): string | Promise<string> {
  const body = objectIn(objectIn(event, "data"), "body");
  const [repository, tag, digest] = ["repository", "tag", "digest"].map((field) => textIn(body, field));
  if (repository) return tag ? `${repository}:${tag}` : digest ? `${repository}@${digest.slice(0, SHORT)}` : repository;
  const name = textIn(body, "name");
  const subject = textIn(event, "subject");
  const inside = subject.includes("/") && name !== "" ? subject.slice(0, subject.lastIndexOf("/")) : "";
  return inside === ""
    ? pathOf(subject)
    : Promise.resolve(pathOf(inside)).then(
        (above) => `${above}${/\.tag\./.test(textIn(event, "type")) ? ":" : "/"}${name}`,
      );
}
