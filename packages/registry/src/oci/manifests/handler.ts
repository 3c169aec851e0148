import { createHash } from "node:crypto";
import { resolveRepository } from "@moorage/kernel/core/image-path";
import { invalidArgument } from "@moorage/kernel/errors";
import { isReservedTag, parseTimedTag, RESERVED_TAG, tagKey } from "../../registry/index.ts";
import { authorize, type Exchange, onlyDigest } from "../request.ts";
import { algorithmOf, isDigest, isTag } from "../digests.ts";
import { warningHeader } from "../answers.ts";
import { RegistryError } from "../errors.ts";
import { needsGrace, renewGrace } from "../gc/grace.ts";
import { lookAt } from "./look.ts";
import { parseManifest } from "../formats/manifest.ts";
import { type PullPlace, pullablePlace } from "../names.ts";
import { manifestFromSource } from "../pulls/upstream.ts";
import { type AnsweredManifest, manifestOfStandIn } from "../pulls/stand-in.ts";
import { answerPull } from "../pulls/cache.ts";
import { judgeDeprecation } from "../pulls/deprecation.ts";
import { type Answerable, judgePull } from "../pulls/gate.ts";
import { judgeSignatures } from "../pulls/signatures.ts";
import { requireReach } from "../pulls/reach.ts";
import { sendEmpty } from "../send.ts";
import { wholeBodyOf } from "../body.ts";
import { notPulled } from "../tags/timed-pull.ts";
import { heldManifest, pulledOf } from "./lookup.ts";
import { imageConfigOf } from "../formats/image-config.ts";
import { deleteManifest, putManifest, removeTag } from "./commands.ts";
import { moveTimeOf, outdated } from "./move-time.ts";
import { withoutLeftovers } from "./rejected-push.ts";
import { neededBy, type TagsAbove } from "./tags-above.ts";

const MAX_TAGS = 100;

/**
 * GET, HEAD, PUT and DELETE of `/v2/<name>/manifests/<reference>`; a reference is a tag, a digest, or a tag as of a
 * time (read only). Source: OCI distribution v1.1.
 */
export async function handleManifest(exchange: Exchange, { reference }: { reference: string }): Promise<void> {
  if (exchange.req.method === "PUT") return handlePut(exchange, reference);
  if (exchange.req.method === "DELETE") return handleDelete(exchange, reference);
  await sendManifest(exchange, reference);
}

/**
 * Answers the manifest byte by byte as it was pushed. Its media type is never converted, whatever the Accept header
 * says, since another form would have another digest.
 */
async function sendManifest(exchange: Exchange, reference: string): Promise<void> {
  const { deps, name } = exchange;
  await authorize(exchange, ["pull"], { checksDigest: isDigest(reference) });
  const { place, found } = await deps.transactor.read(exchange.callData, async (call) => {
    const pulledPlace = await pullablePlace(call, deps.config, name, pulledOf(reference));
    const { repo = "" } = pulledPlace;
    await requireReach(exchange, call, repo, reference);
    const held = repo === "" ? undefined : await heldManifest(call, repo, reference);
    const renews = held?.touch_time !== undefined && (await needsGrace(exchange, call, repo, held.touch_time));
    return { place: pulledPlace, found: held && { ...held, renews } };
  });
  const isGone =
    found?.renews === true &&
    !(await renewGrace(exchange, { repo: place.repo ?? "", digest: reference, kind: "manifest" }));
  const local = isGone ? undefined : found;
  const answered = await manifestOf(exchange, place, reference, local);
  if (answered === undefined)
    throw reference.includes(":") && !isDigest(reference) ? digestInvalid() : notPulled(reference);
  const { pulled: named, repo, isCurrent } = answered;
  const deprecated = await judgeDeprecation(exchange, repo, named);
  const gated = await judgePull(exchange, { repo, reference }, named);
  const signed = await judgeSignatures(exchange, { repo, reference }, named);
  const earlier = signed?.instead;
  const pulled = earlier === undefined ? named : await earlierManifest(exchange, repo, earlier);
  const judged = pulled === named ? gated : await judgePull(exchange, { repo, reference }, pulled);
  const warnings = [answered, deprecated, judged, signed]
    .map((each) => each?.warning ?? "")
    .filter((text) => text !== "");
  const headers = {
    "docker-content-digest": pulled.digest,
    etag: `"${pulled.digest}"`,
    "cache-control": "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-type": pulled.media_type,
    ...warningHeader(warnings.join("; ")),
  };
  const pull = {
    repository: name,
    repo,
    tag: isDigest(reference) ? "" : reference,
    digest: pulled.digest,
    type: "manifest",
  } as const;
  // An answer of the source registry is not cached, since the source may change at any time; nor is one that depends on
  // findings or scans, which change without the tables that the cache watches, or one that will be rejected in time.
  // One under policies of signatures is, with what its image was judged by.
  const isCacheable =
    local !== undefined &&
    isCurrent &&
    judged === undefined &&
    (signed === undefined || signed.judged !== undefined) &&
    deprecated?.endsMs === undefined &&
    onlyDigest(exchange) === undefined;
  const asked = pulledOf(reference);
  const keys = "tag" in asked ? [tagKey(repo, asked.tag)] : [];
  answerPull(exchange, { pull, headers, body: pulled.content, isCacheable, keys, judged: signed?.judged });
}

/** The manifest that is answered: what is here, or what another registry has. Undefined when nobody has it. */
async function manifestOf(
  exchange: Exchange,
  { repo, standIn, path }: PullPlace,
  reference: string,
  local: Answerable | undefined,
): Promise<AnsweredManifest | undefined> {
  if (standIn !== undefined && !parseTimedTag(reference))
    return await manifestOfStandIn(exchange, { repo, standIn, path }, reference, local);
  if (repo === undefined) return undefined;
  const pulled = local ?? (await manifestFromSource(exchange, repo, reference));
  return pulled && { pulled, repo, isCurrent: true, warning: "" };
}

/** The manifest that is answered in place of the one that the tag points to. */
async function earlierManifest({ deps, callData }: Exchange, repo: string, digest: string): Promise<Answerable> {
  const found = await deps.transactor.read(callData, (call) => heldManifest(call, repo, digest));
  // It was there a moment ago.
  if (found === undefined) throw notPulled(digest);
  return found;
}

async function handlePut(exchange: Exchange, reference: string): Promise<void> {
  const { req, deps, name, query } = exchange;
  await authorize(exchange, ["push"]);
  const byDigest = isDigest(reference);
  const tags = [...new Set(byDigest ? query.getAll("tag") : [reference])];
  if (!byDigest && reference.includes(":")) throw digestInvalid();
  if (!tags.every(isTag))
    throw new RegistryError(
      "MANIFEST_INVALID",
      "Invalid argument: tag: must be an OCI tag, as [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}",
    );
  // Not MANIFEST_INVALID: some clients answer that by retrying with every other format they can convert the image to.
  if (tags.some(isReservedTag)) throw invalidArgument({ field: "tag", description: RESERVED_TAG });
  if (tags.length > MAX_TAGS)
    throw new RegistryError("MANIFEST_INVALID", `Invalid argument: tag: more than ${MAX_TAGS} tags in one push`, {
      status: 414,
    });
  const moveMs = moveTimeOf(exchange);
  const content = await readContent(exchange);
  const digest = digestOf(content, byDigest ? reference : "sha256:");
  if (byDigest && digest !== reference) {
    throw new RegistryError("DIGEST_INVALID", "Invalid argument: digest: is not that of the content", {
      detail: { digest },
    });
  }
  const manifest = parseManifest(content, req.headers["content-type"] ?? "");
  if ("problem" in manifest)
    throw new RegistryError("MANIFEST_INVALID", `Invalid argument: manifest: ${manifest.problem}`);
  // The tag moves when the push is complete, not when a slow client began to send it: an earlier time would change what
  // a pull as of that time finds.
  const callData = { ...exchange.callData, nowMs: deps.clock.nowMs() };
  const config = await imageConfigOf(
    deps,
    callData,
    manifest,
    async (call) => (await resolveRepository(call, name)).repo,
  );
  // What is found missing is known to be so from now on, and then no push may refer to it.
  await lookAt(deps, callData, manifest);
  const blobs = manifest.references.flatMap(({ kind, digest: target }) => (kind === "blob" ? [target] : []));
  const {
    missing,
    wrongSizes,
    warning = "",
    later,
  } = await withoutLeftovers(exchange, blobs, () =>
    deps.transactor.write(putManifest, callData, { name, digest, content, manifest, config, tags, moveMs }),
  );
  if (later !== undefined) throw outdated(later);
  if (wrongSizes.length > 0)
    throw new RegistryError(
      "SIZE_INVALID",
      "Invalid argument: manifest: states another size than the content has that it refers to",
      { detail: wrongSizes },
    );
  if (missing.length > 0) {
    throw new RegistryError(
      "MANIFEST_BLOB_UNKNOWN",
      "Precondition failed: the manifest refers to content that the repository does not hold",
      {
        detail: missing.map((each) => ({ digest: each })),
      },
    );
  }
  sendEmpty(exchange, 201, {
    location: `/v2/${name}/manifests/${digest}`,
    "docker-content-digest": digest,
    ...(manifest.subject !== "" && { "oci-subject": manifest.subject }),
    ...(byDigest && tags.length > 0 && { "oci-tag": tags }),
    ...warningHeader(warning),
  });
}

async function handleDelete(exchange: Exchange, reference: string): Promise<void> {
  const { deps, name } = exchange;
  await authorize(exchange, ["delete"]);
  if (parseTimedTag(reference)) {
    throw new RegistryError("UNSUPPORTED", "A tag as of a time is read-only and cannot be deleted", {
      headers: { allow: "GET, HEAD" },
    });
  }
  if (isDigest(reference)) {
    const { above } = await deps.transactor.write(deleteManifest, exchange.callData, { name, digest: reference });
    if (above !== undefined) throw needed(above);
  } else {
    const moveMs = moveTimeOf(exchange);
    const { later } = await deps.transactor.write(removeTag, exchange.callData, { name, tag: reference, moveMs });
    if (later !== undefined) throw outdated(later);
  }
  sendEmpty(exchange, 202, {});
}

/** The error for deleting a manifest that tags need, like that for a blob which a manifest needs. */
function needed(above: TagsAbove): RegistryError {
  return new RegistryError("UNSUPPORTED", neededBy(above), { headers: { allow: "GET, HEAD" }, detail: { ...above } });
}

/** The whole body. Throws SIZE_INVALID with status 413 when it exceeds `maxManifestBytes`. */
function readContent(exchange: Exchange): Promise<Uint8Array> {
  const limit = exchange.deps.config.maxManifestBytes;
  return wholeBodyOf(
    exchange,
    limit,
    () =>
      new RegistryError("SIZE_INVALID", `Invalid argument: manifest: is larger than ${limit} bytes`, { status: 413 }),
  );
}

function digestInvalid(): RegistryError {
  return new RegistryError("DIGEST_INVALID", "Invalid argument: digest: must be a sha256 or sha512 digest");
}

function digestOf(content: Uint8Array, reference: string): string {
  const algorithm = algorithmOf(reference);
  return `${algorithm}:${createHash(algorithm).update(content).digest("hex")}`;
}
