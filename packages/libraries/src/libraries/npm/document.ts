import { parse, validRange } from "semver";
import { parseJson } from "@moorage/kernel/lib/json";
import { libraryError } from "../http/errors.ts";
import type { ReceivedFile } from "../http/receive.ts";
import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "../reading/limits.ts";
import { attestedBy } from "./attestations.ts";
import { isRecord, isTooLarge, type Manifest, MAX_MANIFEST_BYTES, MAX_README_CHARS } from "./manifest.ts";
import { requirePackageName, tarballName } from "./names.ts";

/** A document of `npm publish`, `npm deprecate` or `npm unpublish`. */
interface NpmDocument {
  name: string;
  tags: Record<string, string>;
  versions: Record<string, Manifest>;
  readme: string;
  /** The texts of attachments beside the tarball, by their names. */
  attachments: ReadonlyMap<string, string>;
}

const MAX_DESCRIPTION_CHARS = 4_096;
const MAX_INTEGRITY_CHARS = 4_096;
const MAX_TAGS = 200;
const MAX_TAG_CHARS = 128;
// What means another folder in a path, and what no object has as a key.
const UNUSABLE = /^(?:\.+|__proto__)$/;
const TAG = /^[A-Za-z0-9_.!~*'()-]+$/;

/** Reads a document. Throws 400, naming the field, for what is none. `name`: that of the path. */
export function documentOf(json: Buffer, name: string): NpmDocument {
  const parsed = jsonOf(json);
  if (!isRecord(parsed)) throw wrong("document", "must be an object");
  if (parsed["name"] !== name) throw wrong("name", "is not the one in the path");
  const versions = parsed["versions"] ?? {};
  if (!isRecord(versions)) throw wrong("versions", "must be an object");
  for (const [version, manifest] of Object.entries(versions))
    if (!isRecord(manifest)) throw wrong(`versions.${version}`, "must be an object");
  return {
    name,
    tags: tagsOf(parsed["dist-tags"] ?? {}),
    versions: versions as Record<string, Manifest>,
    attachments: attachmentsOf(parsed["_attachments"]),
    readme: typeof parsed["readme"] === "string" ? parsed["readme"].slice(0, MAX_README_CHARS) : "",
  };
}

function attachmentsOf(given: unknown): ReadonlyMap<string, string> {
  if (!isRecord(given)) return new Map();
  return new Map(
    Object.entries(given).flatMap(([name, each]): [string, string][] =>
      isRecord(each) && typeof each["data"] === "string" && each["data"] !== "" ? [[name, each["data"]]] : [],
    ),
  );
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString(), MAX_JSON_DEPTH, MAX_JSON_VALUES);
  } catch (error) {
    const isBounded = error instanceof SyntaxError && /^(?:nested too deeply|too many values)$/.test(error.message);
    throw wrong("document", isBounded ? `is JSON with ${error.message}` : "is not JSON");
  }
}

function tagsOf(given: unknown): Record<string, string> {
  if (!isRecord(given)) throw wrong("dist-tags", "must be an object");
  const tags = Object.entries(given);
  if (tags.length > MAX_TAGS) throw wrong("dist-tags", `may have ${MAX_TAGS} tags`);
  for (const [tag, version] of tags) {
    requireTag(tag);
    if (typeof version !== "string") throw wrong(`dist-tags.${tag}`, "must be a version");
  }
  return given as Record<string, string>;
}

/**
 * Throws 400 for a tag that is a version or a range, or that npm could not ask for since it is not the same in a URL.
 * Source: npm, `npm dist-tag add`; npm-package-arg.
 */
export function requireTag(tag: string): void {
  const isName = tag.length <= MAX_TAG_CHARS && TAG.test(tag) && !UNUSABLE.test(tag);
  if (!isName || validRange(tag) !== null)
    throw wrong("tag", `${JSON.stringify(tag.slice(0, 100))} is not the name of a tag`);
}

/** A version to publish. */
export interface NewNpmVersion {
  version: string;
  description: string;
  /** The manifest without what is kept elsewhere. */
  metadata: string;
  readme: string;
  deprecated: string | null;
  fileName: string;
  /** What is kept with the tarball, as JSON: see attestations.ts. */
  fileMetadata: string;
}

/**
 * The one version that a document publishes, whose tarball was received. The tarball's own package.json is not read:
 * what the document says is what clients resolve. Throws 400 for anything that does not fit together.
 */
export function newVersionOf(
  { name, versions, readme, attachments }: NpmDocument,
  { name: attachment, file }: { name: string; file: Pick<ReceivedFile, "sha1" | "sha512"> },
): NewNpmVersion {
  requirePackageName(name);
  const entries = Object.entries(versions);
  const [version = "", manifest = {}] = entries[0] ?? [];
  if (entries.length !== 1) throw wrong("versions", "must have the one version that is published");
  const parsed = parse(version);
  if (parsed === null || parsed.version !== version)
    throw wrong("versions", `${JSON.stringify(version.slice(0, 100))} is no version as semver.org writes it`);
  if (manifest["name"] !== name || manifest["version"] !== version)
    throw wrong(`versions.${version}`, "has another name or version");
  const fileName = tarballName(name, version);
  // npm names the attachment by the whole name, other clients by the tarball's.
  if (attachment !== `${name}-${version}.tgz` && attachment !== fileName)
    throw wrong("_attachments", `must be ${fileName}`);
  const { readme: own, readmeFilename: _, dist, deprecated, ...kept } = manifest;
  const given = isRecord(dist) ? dist : {};
  const integrity = `sha512-${Buffer.from(file.sha512, "hex").toString("base64")}`;
  const said = given["integrity"];
  if (
    said !== undefined &&
    (typeof said !== "string" || said.length > MAX_INTEGRITY_CHARS || !said.split(/\s+/).includes(integrity))
  )
    throw wrong("dist.integrity", "is not that of the tarball");
  if (given["shasum"] !== undefined && given["shasum"] !== file.sha1)
    throw wrong("dist.shasum", "is not that of the tarball");
  const { tarball: __, ...rest } = given;
  const description = typeof manifest["description"] === "string" ? manifest["description"] : "";
  const metadata = JSON.stringify({
    ...kept,
    _id: `${name}@${version}`,
    dist: { ...rest, integrity, shasum: file.sha1 },
  });
  if (isTooLarge(metadata))
    throw libraryError(
      413,
      `Invalid argument: versions.${version}: has more than ${MAX_MANIFEST_BYTES} bytes, or too many values`,
    );
  return {
    version,
    description: description.slice(0, MAX_DESCRIPTION_CHARS),
    metadata,
    readme: (typeof own === "string" && own !== "" ? own : readme).slice(0, MAX_README_CHARS),
    deprecated: typeof deprecated === "string" && deprecated !== "" ? deprecated : null,
    fileName,
    fileMetadata: attestedBy(attachments.get(`${name}-${version}.sigstore`)),
  };
}

function wrong(field: string, description: string): Error {
  return libraryError(400, `Invalid argument: ${field}: ${description}`);
}
