import { isObject, parseJson } from "@moorage/kernel/lib/json";
import { DOCKER_LIST, DOCKER_MANIFEST, isImageType, isIndexType } from "@moorage/kernel/core/media-types";
import { isDigest } from "../digests.ts";
import type { ImageConfig } from "../../registry/index.ts";

// Media types of non-distributable layers: clients may leave such layers out of a push, so the registry need not hold
// them.
const NON_DISTRIBUTABLE =
  /^application\/vnd\.(?:oci\.image\.layer\.nondistributable\.|docker\.image\.rootfs\.foreign\.)/;
const MEDIA_TYPE = /^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}\/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}$/;
// The annotation by which BuildKit says of which manifest another one is the attestation. Source: BuildKit,
// docs/attestations/attestation-storage.md.
const ATTESTED = "vnd.docker.reference.digest";
const MAX_DEPTH = 64;
const MAX_REFERENCES = 10_000;

/** Of objects and lists together: as many as the most references need, and some for annotations. */
const MAX_VALUES = 50_000;

/** Of one object of annotations. */
const MAX_ANNOTATIONS = 1_000;

/** A digest that a manifest refers to. */
export interface Reference {
  digest: string;
  kind: "blob" | "manifest";
  /** In bytes, as the manifest states it. */
  size: number;
}

/** The parts of a manifest that the registry reads. */
export interface ParsedManifest {
  mediaType: string;
  /** The digest of its subject; empty without one. */
  subject: string;
  /** Its artifactType; an image without one has its configuration's media type. May be empty. */
  artifactType: string;
  annotations: Record<string, string>;
  /** Each digest once, without the subject and without non-distributable layers. */
  references: Reference[];
  /** Whether it is an index that names attestations of other manifests that it names. */
  hasAttestations?: boolean;
  /** The digest of an image's configuration, and the bytes of it and all layers. Undefined for an index. */
  image?: { config: string; size: number };
}

/** Why a manifest is invalid, as a message for people. */
export interface ManifestProblem {
  problem: string;
}

type Json = Record<string, unknown>;

/** Keys by their form without case. */
type KnownKeys = ReadonlyMap<string, string>;
// By way of upper case, since ſ is another s to such parsers.
const folded = (key: string): string => key.toUpperCase().toLowerCase();
const keysOf = (...keys: string[]): KnownKeys => new Map(keys.map((key) => [folded(key), key]));
const NO_KEYS = keysOf();
// Every key of the specifications, those that the registry does not read as well.
const MANIFEST_KEYS = keysOf(
  "schemaVersion",
  "mediaType",
  "artifactType",
  "config",
  "layers",
  "manifests",
  "subject",
  "annotations",
);
const DESCRIPTOR_KEYS = keysOf(
  "mediaType",
  "digest",
  "size",
  "urls",
  "annotations",
  "data",
  "artifactType",
  "platform",
);
const PLATFORM_KEYS = keysOf("architecture", "os", "os.version", "os.features", "variant", "features");

/** Ends the parsing; caught in `parseManifest`. */
class Invalid extends Error {}

/**
 * Parses and validates an OCI image manifest or index, or their Docker schema 2 counterparts. Of a duplicate JSON key
 * the last value counts, as in the JSON parsers of clients. `contentType` is the Content-Type header; when it is empty,
 * the `mediaType` of the body counts. Source: OCI image specification v1.1, Docker image manifest V2 schema 2.
 */
export function parseManifest(content: Uint8Array, contentType: string): ParsedManifest | ManifestProblem {
  try {
    return read(content, (contentType.split(";", 1)[0] ?? "").trim().toLowerCase());
  } catch (error) {
    if (error instanceof Invalid) return { problem: error.message };
    throw error;
  }
}

function read(content: Uint8Array, contentType: string): ParsedManifest {
  const body = object(decode(content), "the manifest", MANIFEST_KEYS);
  const own = body["mediaType"];
  if (own !== undefined && typeof own !== "string") throw new Invalid("mediaType must be a string");
  const mediaType = contentType || own || "";
  if (mediaType === "") throw new Invalid("a Content-Type header or a mediaType is needed");
  if (!isImageType(mediaType) && !isIndexType(mediaType))
    throw new Invalid("the media type is not that of a manifest this registry takes");
  if (own !== undefined && own !== "" && own !== mediaType)
    throw new Invalid("mediaType and the Content-Type header differ");
  const docker = mediaType === DOCKER_MANIFEST || mediaType === DOCKER_LIST;
  if (docker && !own) throw new Invalid("mediaType is missing");
  if (body["schemaVersion"] !== 2) throw new Invalid("schemaVersion must be 2");
  const isImage = isImageType(mediaType);
  // A document that one client would read as an image and another as an index is rejected, as the image specification
  // advises.
  if (isImage ? "manifests" in body : "layers" in body || "config" in body)
    throw new Invalid("a manifest is either an image or an index");
  const { references, configType, image, hasAttestations } = isImage ? readImage(body) : readIndex(body);
  const artifactType = docker ? "" : optionalMediaType(body["artifactType"], "artifactType");
  const subject =
    docker || body["subject"] === undefined || body["subject"] === null
      ? ""
      : descriptor(body["subject"], "subject").digest;
  const notes = annotations(body["annotations"], "annotations");
  return {
    mediaType,
    subject,
    artifactType: artifactType || configType,
    annotations: notes,
    references: unique(references),
    ...(image && { image }),
    ...(hasAttestations && { hasAttestations }),
  };
}

type Contents = Pick<ParsedManifest, "references" | "image" | "hasAttestations"> & { configType: string };

function readImage(body: Json): Contents {
  const config = descriptor(body["config"], "config");
  const layers = list(body["layers"], "layers").map((layer, index) => descriptor(layer, `layers[${index}]`));
  const needed = layers.filter(({ mediaType }) => !NON_DISTRIBUTABLE.test(mediaType));
  return {
    references: [config, ...needed].map(({ digest, size }) => ({ digest, kind: "blob", size })),
    configType: config.mediaType,
    image: {
      config: config.digest,
      size: Math.min(
        layers.reduce((sum, layer) => sum + layer.size, config.size),
        Number.MAX_SAFE_INTEGER,
      ),
    },
  };
}

function readIndex(body: Json): Contents {
  let hasAttestations = false;
  const references = list(body["manifests"], "manifests").map((entry, index): Reference => {
    const path = `manifests[${index}]`;
    const { digest, mediaType, size, notes } = descriptor(entry, path);
    hasAttestations ||= notes[ATTESTED] !== undefined;
    platform(object(entry, path)["platform"], `${path}.platform`);
    // An index may also refer to blobs: build caches do so.
    return { digest, kind: isImageType(mediaType) || isIndexType(mediaType) ? "manifest" : "blob", size };
  });
  return { references, configType: "", hasAttestations };
}

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
  notes: Record<string, string>;
}

function descriptor(value: unknown, path: string): Descriptor {
  const { mediaType, digest, size, urls, annotations: stated } = object(value, path, DESCRIPTOR_KEYS);
  if (typeof mediaType !== "string" || !MEDIA_TYPE.test(mediaType))
    throw new Invalid(`${path}.mediaType must be a media type`);
  if (typeof digest !== "string" || !isDigest(digest))
    throw new Invalid(`${path}.digest must be a sha256 or sha512 digest`);
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0)
    throw new Invalid(`${path}.size must be a whole number, not negative`);
  const urlList = urls === undefined || urls === null ? [] : list(urls, `${path}.urls`);
  if (!urlList.every((url) => typeof url === "string")) throw new Invalid(`${path}.urls must be strings`);
  return { mediaType, digest, size, notes: annotations(stated, `${path}.annotations`) };
}

function platform(value: unknown, path: string): void {
  if (value === undefined || value === null) return;
  const { architecture, os } = object(value, path, PLATFORM_KEYS);
  if (typeof architecture !== "string" || typeof os !== "string")
    throw new Invalid(`${path} needs an architecture and an os`);
}

function annotations(value: unknown, path: string): Record<string, string> {
  if (value === undefined || value === null) return {};
  const entries = Object.entries(object(value, path));
  if (entries.length > MAX_ANNOTATIONS) throw new Invalid(`${path} has more than ${MAX_ANNOTATIONS} entries`);
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === "string"))
    throw new Invalid(`${path} must map strings to strings`);
  return Object.fromEntries(entries);
}

function optionalMediaType(value: unknown, path: string): string {
  if (value === undefined || value === null || value === "") return "";
  if (typeof value !== "string" || !MEDIA_TYPE.test(value)) throw new Invalid(`${path} must be a media type`);
  return value;
}

function object(value: unknown, path: string, known: KnownKeys = NO_KEYS): Json {
  if (!isObject(value)) throw new Invalid(`${path} must be an object`);
  for (const key of Object.keys(value)) {
    const meant = known.get(folded(key));
    // Some JSON parsers, such as Go's, do not distinguish upper and lower case: to their clients the key is the one
    // that it looks like, and the manifest another than to this registry.
    if (meant !== undefined && meant !== key) throw new Invalid(`${path} has the key ${key}; ${meant} is meant`);
  }
  return value;
}

function list(value: unknown, path: string): unknown[] {
  if (!Array.isArray(value)) throw new Invalid(`${path} must be an array`);
  if (value.length > MAX_REFERENCES) throw new Invalid(`${path} has more than ${MAX_REFERENCES} entries`);
  return value;
}

function unique(references: Reference[]): Reference[] {
  const byDigest = new Map<string, Reference>();
  for (const reference of references) {
    const known = byDigest.get(reference.digest);
    if (known !== undefined && known.size !== reference.size)
      throw new Invalid(`${reference.digest} is named with two sizes`);
    byDigest.set(reference.digest, reference);
  }
  return [...byDigest.values()];
}

function decode(content: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content), MAX_DEPTH, MAX_VALUES);
  } catch {
    throw new Invalid(
      `the manifest is not JSON in UTF-8, nested at most ${MAX_DEPTH} levels deep, of at most ${MAX_VALUES} values`,
    );
  }
}

/** The bytes of a manifest and its parsed form. */
export interface StoredManifest {
  digest: string;
  content: Uint8Array;
  manifest: ParsedManifest;
  /** What the configuration of an image says. Undefined when it is not known. */
  config?: ImageConfig | undefined;
}
