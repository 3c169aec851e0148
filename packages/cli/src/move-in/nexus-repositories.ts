// Repositories and files of a Nexus, read like what a stranger wrote. Source: help.sonatype.com, "Repositories API" and
// "Components API".
import { isList, isObject } from "@moorage/kernel/lib/json";
import { isVersion } from "@moorage/kernel/lib/versions";
import { faultOfHost } from "./address.ts";
import type { EcosystemHere } from "./artifacts-here.ts";
import type { Holding, SourceFile, SourceIndex, SourceUpstream } from "./project-source.ts";
import { faultOfFile } from "./python-names.ts";
import { earliest, type StoredFile } from "./stored-files.ts";
import { sumOfHex } from "./sums.ts";
import { withoutTrailingSlashes } from "./trailing-slashes.ts";

// The formats that packages here have, too, by what they are here.
const FORMATS: Readonly<Record<string, { ecosystem: EcosystemHere; holds: Holding }>> = {
  npm: { ecosystem: "ECOSYSTEM_JAVASCRIPT", holds: "packages" },
  pypi: { ecosystem: "ECOSYSTEM_PYTHON", holds: "projects" },
  maven2: { ecosystem: "ECOSYSTEM_JAVA", holds: "artifacts" },
};
const MAX_MEMBERS = 20;
const MAX_REQUIRES_CHARS = 512;
const MAX_PATH_CHARS = 1_000;

/** What a repository becomes. `origin`: of the Nexus. */
export function indexOfRepository(repository: Record<string, unknown>, origin: string): SourceIndex {
  const [name, format, type] = ["name", "format", "type"].map((field) => shortIn(repository, field));
  const index = { name: name ?? "", holds: "nothing" as const, note: "" };
  const attributes = isObject(repository["attributes"]) ? repository["attributes"] : {};
  const here = Object.hasOwn(FORMATS, format ?? "") ? FORMATS[format ?? ""] : undefined;
  if (format === "docker")
    return {
      ...index,
      fault: `is a repository of images, which come as oci, with --names: moorage import-from oci ${new URL(origin).host}`,
    };
  if (here === undefined) return { ...index, fault: `has the format ${format}, which is not served here` };
  if (type === "group") return { ...index, fault: `is a group of other repositories: ${membersIn(attributes)}` };
  if (type === "proxy") return { ...index, upstream: upstreamOf(attributes, here.ecosystem) };
  if (type !== "hosted") return { ...index, fault: `has the type ${type}, which is not read` };
  return { ...index, holds: here.holds };
}

/** What a proxy asks. Its password is not said there. */
function upstreamOf({ proxy }: Record<string, unknown>, ecosystem: EcosystemHere): SourceUpstream {
  const said = isObject(proxy) ? proxy["remoteUrl"] : undefined;
  const url = upstreamUrlIn(said, ecosystem);
  if (url === undefined) return { fault: "the source says no URL that an upstream can have" };
  return { ecosystem, url, isDisabled: false, note: "whether it asks with a password is not said there" };
}

/** The URL of an upstream of the ecosystem, without what it may say of a password; undefined for none. */
export function upstreamUrlIn(said: unknown, ecosystem: EcosystemHere): string | undefined {
  const url = typeof said === "string" ? URL.parse(said) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") return undefined;
  [url.username, url.password] = ["", ""];
  const base = withoutTrailingSlashes(url.href);
  // These registries name an index of Python by what is above its pages.
  return ecosystem !== "ECOSYSTEM_PYTHON" || base.endsWith("/simple") ? base : `${base}/simple`;
}

function membersIn({ group }: Record<string, unknown>): string {
  const names = isObject(group) && isList(group["memberNames"]) ? group["memberNames"].filter(isText) : [];
  const shown = names.slice(0, MAX_MEMBERS).map((name) => name.slice(0, 60));
  if (names.length === 0) return "the source does not say which";
  return [...shown, ...(names.length > MAX_MEMBERS ? [`and ${names.length - MAX_MEMBERS} more`] : [])].join(", ");
}

/** A file of a component. */
export function nexusFile(
  asset: Record<string, unknown>,
  { repository, version, origin, nowMs }: AssetPlace,
): SourceFile {
  const { path, downloadUrl, checksum } = asset;
  const url = isText(downloadUrl) ? URL.parse(downloadUrl, origin) : null;
  const name = isText(path) ? path.slice(path.lastIndexOf("/") + 1) : "";
  const about = isObject(asset["pypi"]) ? asset["pypi"] : {};
  const sums = isObject(checksum) ? checksum : {};
  const file = {
    name,
    version,
    summary: "",
    requiresPython: isText(about["requires_python"]) ? about["requires_python"].slice(0, MAX_REQUIRES_CHARS) : "",
    sums: ["sha256", "sha512", "sha1"].flatMap((kind) => sumOfHex(kind, sums[kind]) ?? []),
    time: timeIn(asset, nowMs),
    yanked: undefined,
    path: url?.pathname ?? "",
  };
  const fault = url === null ? "the source says no URL of it" : faultOf(url, { origin, repository, name, version });
  if (fault !== undefined) return { ...file, fault };
  if (!file.sums[0]?.startsWith("sha256-")) return { ...file, fault: "the source says no SHA-256 of it" };
  return file;
}

function faultOf(
  url: URL,
  { origin, repository, name, version }: { origin: string; repository: string; name: string; version: string },
): string | undefined {
  const fault = faultOfPlace(url, { origin, repository });
  if (fault !== undefined) return fault;
  if (!isVersion("pypi", version)) return "its version is not one as PEP 440 has them";
  return faultOfFile(name);
}

/** An asset of a component, whatever its format. */
export function storedAsset(
  asset: Record<string, unknown>,
  { repository, name, version, origin, nowMs }: AssetPlace & { name: string },
): StoredFile {
  const { path, downloadUrl, checksum } = asset;
  const url = isText(downloadUrl) ? URL.parse(downloadUrl, origin) : null;
  const sums = isObject(checksum) ? checksum : {};
  const file = {
    name,
    version,
    path: isText(path) ? withoutLeadingSlash(path).slice(0, MAX_PATH_CHARS) : "",
    sums: ["sha512", "sha256", "sha1"].flatMap((kind) => sumOfHex(kind, sums[kind]) ?? []),
    time: timeIn(asset, nowMs),
    url: url?.pathname ?? "",
  };
  const fault = url === null ? "the source says no URL of it" : faultOfPlace(url, { origin, repository });
  return fault === undefined ? file : { ...file, fault };
}

/** Where an asset is said to be. */
interface AssetPlace {
  repository: string;
  version: string;
  origin: string;
  nowMs: number;
}

function faultOfPlace(url: URL, { origin, repository }: { origin: string; repository: string }): string | undefined {
  const fault = faultOfHost(url, origin);
  if (fault !== undefined) return fault;
  return url.pathname.startsWith(`/repository/${repository}/`) ? undefined : "is a file of another repository";
}

/** When its bytes came: the earlier of when they were stored and when the asset changed last. */
function timeIn({ blobCreated, lastModified }: Record<string, unknown>, nowMs: number): string | undefined {
  return earliest([blobCreated, lastModified], nowMs);
}

function withoutLeadingSlash(path: string): string {
  return path.startsWith("/") ? path.slice(1) : path;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function shortIn(from: Record<string, unknown>, field: string): string {
  const value = from[field];
  return isText(value) ? value.slice(0, 200) : "";
}
