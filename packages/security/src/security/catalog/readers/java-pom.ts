import { linesOf } from "./lines.ts";

/** What Maven calls an artifact. */
export interface Coordinates {
  namespace: string;
  name: string;
  version: string;
}

const MAX_TAGS = 20_000;
const PART = /^[\w.+-]+$/;

/** The coordinates in Maven's `pom.properties`; undefined where one of them is missing. Source: Maven Archiver. */
export function fromProperties(text: string): Coordinates | undefined {
  const values = new Map<string, string>();
  for (const line of linesOf(text)) {
    const [, key, value] = /^\s*(groupId|artifactId|version)\s*[=:]\s*(\S+)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  return sound({
    namespace: values.get("groupId") ?? "",
    name: values.get("artifactId") ?? "",
    version: values.get("version") ?? "",
  });
}

/**
 * The coordinates in a `pom.xml`, of which the group and the version may be those of its parent; undefined where one is
 * missing, or is a property. Nothing of the document but its tags and the texts of these is looked at.
 */
export function fromPom(text: string): Coordinates | undefined {
  const values = projectValues(text);
  const of = (name: string): string => values.get(`project/${name}`) ?? values.get(`project/parent/${name}`) ?? "";
  return sound({ namespace: of("groupId"), name: values.get("project/artifactId") ?? "", version: of("version") });
}

function sound(found: Coordinates): Coordinates | undefined {
  return Object.values(found).every((part: string) => PART.test(part)) ? found : undefined;
}

const WANTED = new Set(
  ["groupId", "artifactId", "version"].flatMap((name) => [`project/${name}`, `project/parent/${name}`]),
);

/** The texts of the wanted elements by their path, which is known to a depth of three. */
function projectValues(text: string): Map<string, string> {
  const values = new Map<string, string>();
  const open: string[] = [];
  let depth = 0;
  let tags = 0;
  for (let at = text.indexOf("<"); at >= 0 && tags < MAX_TAGS; tags += 1) {
    const isComment = text.startsWith("<!--", at);
    const isData = text.startsWith("<![CDATA[", at);
    const ending = isComment ? "-->" : isData ? "]]>" : ">";
    const end = text.indexOf(ending, at);
    if (end < 0) break;
    const next = text.indexOf("<", end);
    const isMarkup = isComment || isData || text[at + 1] === "?" || text[at + 1] === "!";
    if (!isMarkup && text[at + 1] === "/") {
      depth = Math.max(0, depth - 1);
      open.length = Math.min(open.length, depth);
    } else if (!isMarkup && text[end - 1] !== "/") {
      depth += 1;
      if (depth <= 3) {
        open.push(/^[\w:.-]{1,100}/.exec(text.slice(at + 1, Math.min(end, at + 101)))?.[0] ?? "");
        const path = open.join("/");
        if (WANTED.has(path) && !values.has(path) && next >= 0) values.set(path, text.slice(end + 1, next).trim());
      }
    }
    at = next;
  }
  return values;
}
