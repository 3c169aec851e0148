// The indexes of a devpi-server, as its list of users has them: stages, which hold projects, and mirrors, which fetch
// them. Source: devpi-server 6, model.py and mirror.py.
import { isList, isObject } from "@moorage/kernel/lib/json";
import type { SourceIndex, SourceUpstream } from "./project-source.ts";
import { SourceError } from "./source-error.ts";
import { withoutTrailingSlashes } from "./trailing-slashes.ts";

const MAX_INDEXES = 10_000;
const MAX_NAMED = 20;

/** Reads the list of users. Throws a SourceError for one that is none, or too long. */
export function indexesIn(users: Record<string, unknown>): SourceIndex[] {
  const configs = new Map<string, Record<string, unknown>>();
  for (const [user, said] of Object.entries(users)) {
    const indexes = isObject(said) ? (said["indexes"] ?? {}) : undefined;
    if (!isObject(indexes)) throw new SourceError("the source lists users whose indexes cannot be read");
    for (const [name, config] of Object.entries(indexes))
      configs.set(`${user}/${name}`, isObject(config) ? config : {});
    if (configs.size > MAX_INDEXES) throw new SourceError(`the source has more than ${MAX_INDEXES} indexes`);
  }
  return [...configs.keys()].map((name) => indexOf(name, configs));
}

function indexOf(name: string, configs: ReadonlyMap<string, Record<string, unknown>>): SourceIndex {
  const config = configs.get(name) ?? {};
  const { type } = config;
  const index = { name, holds: "nothing" as const, note: noteOf(config) };
  if (type === "mirror") return { ...index, upstream: upstreamOf(config) };
  if (type !== "stage") return { ...index, fault: `is an index of the type ${textOf(type)}, which is not read` };
  const bases = textsIn(config["bases"]);
  if (bases.length === 0) return { ...index, holds: "projects" };
  const [base = ""] = bases;
  const only = bases.length === 1 ? configs.get(base) : undefined;
  const upstream: SourceUpstream =
    only?.["type"] === "mirror"
      ? upstreamOf(only)
      : {
          fault: `inherits from ${namedOf(bases)}: a group here asks one upstream, and no other group. Installing from both takes two indexes, or an upstream that has both`,
        };
  return { ...index, holds: "projects", upstream };
}

/** What a mirror fetches from. Its password stays there. */
function upstreamOf({ mirror_url: said }: Record<string, unknown>): SourceUpstream {
  const url = typeof said === "string" ? URL.parse(said) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    return { fault: "its mirror_url is no URL that an upstream can have" };
  const isDisabled = url.username !== "" || url.password !== "";
  [url.username, url.password] = ["", ""];
  const note = "its password stays there: the upstream is disabled until it gets one";
  return { url: withoutTrailingSlashes(url.href), isDisabled, note: isDisabled ? note : "" };
}

/** Who may do what there, and which names may come from both: nobody's rights come along. */
function noteOf(config: Record<string, unknown>): string {
  const [upload, read, merged] = ["acl_upload", "acl_pkg_read", "mirror_whitelist"].map((field) =>
    textsIn(config[field]),
  );
  return [
    ...(upload?.length ? [`who may upload there does not come: ${namedOf(upload)}`] : []),
    ...(read?.length ? [`who may read there does not come: ${namedOf(read)}`] : []),
    ...(merged?.length ? [`what may come from its bases as well (mirror_whitelist) does not: ${namedOf(merged)}`] : []),
  ].join("; ");
}

function textsIn(value: unknown): string[] {
  return isList(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function namedOf(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => name.slice(0, 60));
  return [...shown, ...(names.length > MAX_NAMED ? [`and ${names.length - MAX_NAMED} more`] : [])].join(", ");
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 60) : "that it does not say";
}
