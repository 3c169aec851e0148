// Names in place of uids: acme/team/app:1.2, viewer, acme/ci.
import { UsageFailure } from "../command/failure.ts";
import { registryHost } from "../registry-host.ts";
import { findSpecial } from "./compound-names.ts";
import { below, findGroup, searchRepos } from "./group-path.ts";
import { parseImage } from "./image-reference.ts";
import { isUid, type Kind, KINDS } from "./name-kinds.ts";
import { listNamed, type Lookup, onlyOne, throwMissing } from "./name-results.ts";
import type { RestClient } from "./rest.ts";
import { type PathOf, pathsOf } from "./uid-paths.ts";

export type { Kind } from "./name-kinds.ts";

/** An image whose repo was looked up. */
export interface Image {
  /** The uid of the repo. */
  repo: string;
  /** The path of the repo, such as `acme/team/app`; its uid where the caller sees no names. */
  name: string;
  tag?: string;
  digest?: string;
  /** The last millisecond that was named, in milliseconds since 1970. */
  timeMs?: number;
}

/** Looks names up on one server, each once. */
export interface Names {
  /** A uid is passed through. Throws Failure: not found with near names (exit code 3), or several of that name. */
  uidOf(kind: Kind, text: string): Promise<string>;
  /** The image that a reference names. The tag and the digest are not looked up. Throws Failure and UsageFailure. */
  imageOf(text: string): Promise<Image>;
  /** The path of names of a uid; the uid itself where the caller may not see the resource. */
  readonly pathOf: PathOf;
}

/** Names on the server of a client. */
export function namesOf(rest: RestClient): Names {
  const pathOf = pathsOf(rest);
  const found = new Map<string, Promise<string>>();
  const uidOf = (kind: Kind, text: string): Promise<string> => {
    const key = `${kind} ${text}`;
    const known = found.get(key) ?? findUid({ rest, uidOf, pathOf }, kind, text);
    found.set(key, known);
    return known;
  };
  return {
    uidOf,
    pathOf,
    async imageOf(text) {
      const { host, path, tag, digest, timeMs } = parseImage(text);
      const prefix = host === undefined || (await isHostOf(rest, host, text)) ? "" : `${host}/`;
      const repo = await uidOf("repo", `${prefix}${path}`);
      return {
        repo,
        name: isUid(path) ? await pathOf(repo, "repo") : `${prefix}${path}`,
        ...(tag !== undefined && { tag }),
        ...(digest !== undefined && { digest }),
        ...(timeMs !== undefined && { timeMs }),
      };
    },
  };
}

/** Whether the host in front of an image is the server's; false for a group whose name has a dot. */
export async function isHostOf(rest: RestClient, host: string, text: string): Promise<boolean> {
  if (host === new URL(rest.url).host) return true;
  const own = await registryHost(rest.url);
  if (host === own) return true;
  if (!text.includes("://") && !host.includes(":") && "uid" in (await findGroup(rest, host))) return false;
  throw new UsageFailure(`${text}: is an image of ${host}, and the server is ${own}; name it with --url or --context`);
}

async function findUid(lookup: Lookup, kind: Kind, text: string): Promise<string> {
  if (isUid(text)) return text;
  if (text.trim() === "") throw new UsageFailure(`the name of the ${KINDS[kind].word} is empty`);
  const special = findSpecial(lookup, kind, text);
  if (special !== undefined) return special;
  const { rest } = lookup;
  if (kind === "group") {
    const group = await findGroup(rest, text);
    return "uid" in group ? group.uid : throwMissing(lookup, kind, group.missing, group, text);
  }
  const cut = text.lastIndexOf("/");
  const name = text.slice(cut + 1);
  if (cut < 0) return findAnywhere(lookup, kind, name);
  const group = await findGroup(rest, text.slice(0, cut));
  if ("uid" in group) {
    const named = await listNamed(rest, kind, { name, ...below(group.uid) });
    return onlyOne(lookup, kind, text, named, () => throwMissing(lookup, kind, text, { parent: group.uid, name }));
  }
  const hidden = kind === "repo" ? await searchRepos(rest, text, (each) => each === text) : undefined;
  return hidden?.uid ?? throwMissing(lookup, "group", group.missing, group, text);
}

/** A name without a path: of what has no parent, such as a built-in role, or else the only one of that name. */
async function findAnywhere(lookup: Lookup, kind: Kind, name: string): Promise<string> {
  const inRoot = kind === "repo" ? [] : await listNamed(lookup.rest, kind, { name, ...below("") });
  const named = inRoot.length > 0 ? inRoot : await listNamed(lookup.rest, kind, { name });
  return onlyOne(lookup, kind, name, named, () => throwMissing(lookup, kind, name, { parent: undefined, name }));
}
