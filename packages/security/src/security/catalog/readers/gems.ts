import type { FileReader } from "../reader.ts";
import { linesOf } from "./lines.ts";

const PATH = /(?:^|\/)specifications\/(?:default\/)?([^/]+)\.gemspec$/;

/** What stands in front of a specification: name and version. Further lines are lists of files. */
const READ_BYTES = 64 * 1024;
const MAX_LINE = 2_000;
const STUB = /^# stub: (\S+) ([0-9]\S*) \S+/;
const FIELD = /^ *s\.(name|version|licenses?) *=/;
const TEXTS = /"([^"\\#]*)"/g;
const DIGIT = /^[0-9]/;

/**
 * Installed gems: the comment that RubyGems writes in front of each specification, else the fields that are plain
 * texts, else the name of the file. The file is a program, of which nothing is run. Source: RubyGems,
 * StubSpecification.
 */
export const gemReader: FileReader = {
  name: "gem",
  maxBytes: 16 * 1024 * 1024,
  wants: (path) => path.endsWith(".gemspec") && PATH.test(path),
  read(file, packages, path) {
    const stated = statedIn(file.bytes(0, READ_BYTES).toString("utf8"));
    const [, title = ""] = PATH.exec(path) ?? [];
    const isStated = Boolean(stated.name && stated.version);
    const [name, version] = isStated ? [stated.name, stated.version] : namedBy(title);
    if (!name || !version) return { unread: "it states neither a name nor a version" };
    packages.add({ type: "gem", name, version, licence: stated.licence ?? "" });
    return {};
  },
};

/** The name and the version in `name-version` or `name-version-platform`. */
function namedBy(title: string): (string | undefined)[] {
  const parts = title.split("-");
  const at = parts.findIndex((part, n) => n > 0 && DIGIT.test(part));
  return at < 0 ? [] : [parts.slice(0, at).join("-"), parts[at]];
}

interface Stated {
  name?: string;
  version?: string;
  licence?: string;
}

function statedIn(text: string): Stated {
  const stub: Stated = {};
  const fields: Stated = {};
  for (const long of linesOf(text)) {
    const line = long.slice(0, MAX_LINE);
    const [, name, version] = STUB.exec(line) ?? [];
    // A second such line names the extensions.
    if (name !== undefined && version !== undefined && stub.name === undefined) Object.assign(stub, { name, version });
    const [before = "", field = ""] = FIELD.exec(line) ?? [];
    const texts = [...line.slice(before.length).matchAll(TEXTS)].map(([, each = ""]) => each);
    if (field.startsWith("license")) fields.licence ??= texts.join(" OR ");
    else if ((field === "name" || field === "version") && texts[0] !== undefined) fields[field] ??= texts[0];
  }
  return { ...fields, ...stub };
}
