// What the reference of an image points to, now or at a time.
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { objectsIn, textIn } from "./json-fields.ts";
import { throwMissing } from "./name-results.ts";
import type { Image, Names } from "./names.ts";
import type { JsonObject, RestClient } from "./rest.ts";

/** An image with its digest. */
export interface Pinned extends Image {
  digest: string;
  /** What says so: the tag as the API has it, or its move; absent where the reference names the digest. */
  source?: JsonObject;
}

const LATEST = "latest";

/**
 * The digest that an image has: the one that it names, that of its tag, or that of the tag at the time. Without tag and
 * digest it is the tag `latest`, as for all clients of registries. Throws a Failure for a tag that is not there, or was
 * not then, with those that are near.
 */
export async function pin({ rest, names }: { rest: RestClient; names: Names }, image: Image): Promise<Pinned> {
  const { repo, name, digest, timeMs } = image;
  if (digest !== undefined) return { ...image, digest };
  const tag = image.tag ?? LATEST;
  if (timeMs !== undefined) return { ...image, tag, ...(await digestThen(rest, repo, tag, timeMs, name)) };
  const query = { name: tag, "uidp.children_of": repo, page_size: 1 };
  const [found] = objectsIn(await rest.call("GET", "/registry/v2/tags", { query }), "tags");
  if (found === undefined)
    return throwMissing({ rest, pathOf: names.pathOf }, "tag", `${name}:${tag}`, { parent: repo, name: tag });
  return { ...image, tag, digest: textIn(found, "digest"), source: found };
}

/** The path of the moves of a tag in REST. */
export function movesPath(repo: string, tag: string): string {
  return `/registry/v2/repos/${repo}/tags/${tag}/moves`;
}

async function digestThen(
  rest: RestClient,
  repo: string,
  tag: string,
  timeMs: number,
  name: string,
): Promise<{ digest: string; source: JsonObject }> {
  const before = new Date(timeMs + 1).toISOString();
  const answer = await rest.call("GET", movesPath(repo, tag), { query: { before, page_size: 1 } });
  const [move] = objectsIn(answer, "moves");
  const digest = textIn(move, "digest");
  if (move !== undefined && digest !== "") return { digest, source: move };
  const then = new Date(timeMs).toISOString();
  const why = move === undefined ? "" : `: it was deleted at ${textIn(move, "time")}`;
  throw new Failure(`there was no tag ${name}:${tag} at ${then}${why}`, {
    exit: EXIT.notFound,
    hint: `see its history: moorage tags history ${name}:${tag}`,
  });
}
