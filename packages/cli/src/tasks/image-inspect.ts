// `moorage images inspect`: everything that is known of one image.
import { pin, type Pinned } from "../api/image-digest.ts";
import { numberIn, objectIn, objectsIn, textIn } from "../api/json-fields.ts";
import { readConfig, readManifest, readReferrers } from "../api/registry-content.ts";
import type { JsonObject } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { Failure } from "../command/failure.ts";
import { findingsOf, summaryOf } from "./finding-lists.ts";
import { platformOf } from "./image-referrers.ts";
import { inspectText } from "./inspect-text.ts";
import { printReport } from "./report.ts";
import { openSession, type Session, type TaskFlags } from "./session.ts";

const MAX_PLATFORMS = 100;
const MAX_TAGS = 1000;
const CONFIG = /image\.config\.v1\+json$|docker\.container\.image\.v1\+json$/;

/** Prints an image. Its JSON is made of several answers: what the registry stores, tags, referrers and findings. */
export async function inspectImage(reference: string, flags: TaskFlags): Promise<void> {
  const session = await openSession(flags);
  const pinned = await pin(session, await session.names.imageOf(reference));
  const { repo, name, digest, tag } = pinned;
  const [{ content, mediaType, sizeBytes }, tags, referrers, findings] = await Promise.all([
    readManifest(session.rest, name, digest),
    tagsOf(session, pinned),
    readReferrers(session.rest, name, digest),
    findingsOf(session, { repo, digest }).then(summaryOf, unlessDenied),
  ]);
  const platforms = await platformsOf(session, name, { digest, content, sizeBytes });
  const item: JsonObject = {
    image: name,
    repoUid: repo,
    ...(tag !== undefined && { tag }),
    digest,
    mediaType,
    ...(textIn(content, "artifactType") !== "" && { artifactType: textIn(content, "artifactType") }),
    size: String(totalSize(platforms)),
    tags,
    annotations: objectIn(content, "annotations"),
    platforms,
    referrers,
    findings,
  };
  const label = tag === undefined ? `${name}@${digest}` : `${name}:${tag}`;
  const listing = { field: "images", columns: [], nameOf: () => label, idOf: () => digest };
  await printReport({ item, listing, text: (pen) => inspectText(label, item, pen) }, flags);
}

async function tagsOf({ rest }: Session, { repo, digest }: Pinned): Promise<string[]> {
  const names: string[] = [];
  const query = { "uidp.children_of": repo, digest };
  for await (const tag of rest.list("/registry/v2/tags", "tags", { query, limit: MAX_TAGS }))
    names.push(textIn(tag, "name"));
  return names;
}

/** Who may pull may not always list findings: then there is no summary. */
function unlessDenied(error: unknown): null {
  if (error instanceof Failure && (error.exit === EXIT.denied || error.exit === EXIT.notFound)) return null;
  throw error;
}

/** The images of an index, or the one image. Those that the repo does not hold have only what the index says. */
async function platformsOf(
  { rest }: Session,
  name: string,
  top: { digest: string; content: JsonObject; sizeBytes: number },
): Promise<JsonObject[]> {
  const entries = objectsIn(top.content, "manifests").slice(0, MAX_PLATFORMS);
  if (entries.length === 0) return [await imageOf(rest, name, top.digest, top.content)];
  return Promise.all(
    entries.map(async (entry): Promise<JsonObject> => {
      const digest = textIn(entry, "digest");
      const platform = platformOf(objectIn(entry, "platform"));
      const manifest = await readManifest(rest, name, digest).catch((error: unknown) => {
        if (error instanceof Failure && error.exit === EXIT.notFound) return undefined;
        throw error;
      });
      if (manifest === undefined) return { platform, digest, stored: false };
      const image = await imageOf(rest, name, digest, manifest.content);
      return { ...image, platform: platform || textIn(image, "platform") };
    }),
  );
}

async function imageOf(rest: Session["rest"], name: string, digest: string, content: JsonObject): Promise<JsonObject> {
  const config = objectIn(content, "config");
  const layers = objectsIn(content, "layers");
  const size = layers.reduce((sum, layer) => sum + numberIn(layer, "size"), numberIn(config, "size"));
  const read = CONFIG.test(textIn(config, "mediaType")) ? await readConfig(rest, name, textIn(config, "digest")) : {};
  return {
    platform: platformOf(read),
    digest,
    stored: true,
    size: String(size),
    ...(textIn(read, "created") !== "" && { created: textIn(read, "created") }),
    config: objectIn(read, "config"),
    configDigest: textIn(config, "digest"),
    configSize: String(numberIn(config, "size")),
    layers,
  };
}

/** The bytes of all images; a layer of several counts once. */
function totalSize(platforms: readonly JsonObject[]): number {
  const sizes = new Map<string, number>();
  for (const platform of platforms) {
    sizes.set(textIn(platform, "configDigest"), numberIn(platform, "configSize"));
    for (const layer of objectsIn(platform, "layers")) sizes.set(textIn(layer, "digest"), numberIn(layer, "size"));
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
