// `moorage tags diff`: what differs between two images of a repo, or two points of a tag's history.
import { movesPath } from "../api/image-digest.ts";
import { objectsIn, textIn } from "../api/json-fields.ts";
import type { Image } from "../api/names.ts";
import type { JsonObject } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure, UsageFailure } from "../command/failure.ts";
import { printMessage } from "../output/output.ts";
import { createWriter } from "../output/writer.ts";
import { printableLines } from "../printable.ts";
import { diffText } from "./diff-text.ts";
import { printReport } from "./report.ts";
import { openSession, type Session, type TaskFlags } from "./session.ts";

const PAGE_SIZE = 1000;
const MAX_PAGES = 100;
const MERGED = ["packages", "vulnerabilities"] as const;

export interface DiffFlags extends TaskFlags {
  markdown?: boolean;
}

/**
 * Prints the difference. With one reference a tag is compared with what it pointed to before, or a point of its history
 * with now. The second one may leave the image out: `1.3`, `:1.3`, `@sha256:…`, `1.3@2026-01-31`.
 */
export async function printDiff(one: string, other: string | undefined, flags: DiffFlags): Promise<void> {
  const session = await openSession(flags);
  const image = await session.names.imageOf(one);
  const { from, to } =
    other === undefined
      ? await withItself(session, image)
      : { from: sideOf(image), to: sideOf(await secondImage(session, image, other)) };
  const path = `/registry/v2/repos/${image.repo}/diff`;
  if (flags.markdown === true) {
    const diff = await session.rest.call("GET", path, { query: { from, to, format: "MARKDOWN" } });
    const writer = createWriter();
    await writer.write(`${printableLines(textIn(diff, "markdown")).trimEnd()}\n`);
    return writer.flush();
  }
  const diff = await wholeDiff(session, path, { from, to });
  await printReport(
    {
      item: diff,
      listing: { field: "diffs", columns: [], nameOf: () => `${from} ${to}`, idOf: () => `${from} ${to}` },
      text: (pen) => diffText(diff, image.name, pen),
    },
    flags,
  );
}

/** The diff with the packages and vulnerabilities of all its pages. */
async function wholeDiff({ rest }: Session, path: string, query: { from: string; to: string }): Promise<JsonObject> {
  const ask = (pageToken: string): Promise<JsonObject> =>
    rest.call("GET", path, { query: { ...query, page_size: PAGE_SIZE, ...(pageToken && { page_token: pageToken }) } });
  const diff = await ask("");
  let token = textIn(diff, "nextPageToken");
  for (let page = 1; token !== "" && page < MAX_PAGES; page += 1) {
    const next = await ask(token);
    for (const field of MERGED) diff[field] = [...objectsIn(diff, field), ...objectsIn(next, field)];
    token = textIn(next, "nextPageToken");
  }
  diff["nextPageToken"] = token;
  if (token !== "") printMessage(`moorage: only the first ${PAGE_SIZE * MAX_PAGES} packages and findings are shown`);
  return diff;
}

async function withItself({ rest }: Session, image: Image): Promise<{ from: string; to: string }> {
  const { repo, name, tag, digest, timeMs } = image;
  if (tag === undefined || digest !== undefined)
    throw new UsageFailure(`${name}: name a tag, or a second image to compare with`);
  if (timeMs !== undefined) return { from: sideOf(image), to: tag };
  const [move] = objectsIn(await rest.call("GET", movesPath(repo, tag), { query: { page_size: 1 } }), "moves");
  const previous = textIn(move, "previousDigest");
  if (previous !== "" && textIn(move, "digest") !== "") return { from: previous, to: tag };
  throw new Failure(
    move === undefined
      ? `there never was a tag ${name}:${tag}`
      : `${name}:${tag} ${textIn(move, "digest") === "" ? "was deleted" : "has pointed to nothing else before"}`,
    { exit: EXIT.notFound, hint: `name a second image, as in: moorage tags diff ${name}:${tag} :latest` },
  );
}

/** The second image; of the same repo when only a tag, a digest or a time is named. */
async function secondImage({ names }: Session, first: Image, text: string): Promise<Image> {
  const isBare = /^[:@]/.test(text) || !/[/]/.test(text);
  const own = /^[:@]/.test(text) ? text : `:${text}`;
  const second = await names.imageOf(isBare ? `${first.repo}${own}` : text);
  const image =
    isBare && second.tag === undefined && second.digest === undefined && first.tag
      ? { ...second, tag: first.tag }
      : second;
  if (image.repo === first.repo) return image;
  throw new UsageFailure(`${text}: is of another repo than ${first.name}; a diff is about two images of one repo`);
}

/** The image as GetDiff takes it: a digest, a tag, or a tag at a time. */
function sideOf({ digest, tag = "latest", timeMs }: Image): string {
  if (digest !== undefined) return digest;
  return timeMs === undefined ? tag : `${tag}@${new Date(timeMs).toISOString()}`;
}
