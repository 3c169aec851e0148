// Repositories and files of a Nexus, read like what a stranger wrote. Source: help.sonatype.com, "Repositories API" and
// "Components API".
import { isList, isObject } from "@moorage/kernel/lib/json";
import { parseIso8601 } from "@moorage/kernel/lib/iso8601";
import { isVersion } from "@moorage/kernel/lib/versions";
import { faultOfHost } from "./address.ts";
import type { SourceFile, SourceIndex, SourceUpstream } from "./project-source.ts";
import { faultOfFile } from "./python-names.ts";
import { sumOfHex } from "./sums.ts";
import { withoutTrailingSlashes } from "./trailing-slashes.ts";

// The formats that packages here have, too, by what they are called here.
const ECOSYSTEMS: Readonly<Record<string, string>> = { npm: "javascript", pypi: "python", maven2: "java" };
const MAX_MEMBERS = 20;
const MAX_REQUIRES_CHARS = 512;

/** What a repository becomes. `origin`: of the Nexus. */
export function indexOfRepository(repository: Record<string, unknown>, origin: string): SourceIndex {
  const [name, format, type] = ["name", "format", "type"].map((field) => shortIn(repository, field));
  const index = { name: name ?? "", holdsProjects: false, note: "" };
  const attributes = isObject(repository["attributes"]) ? repository["attributes"] : {};
  const ecosystem = Object.hasOwn(ECOSYSTEMS, format ?? "") ? ECOSYSTEMS[format ?? ""] : undefined;
  if (format === "docker")
    return {
      ...index,
      fault: `is a repository of images, which come as oci, with --names: moorage import-from oci ${new URL(origin).host}`,
    };
  if (ecosystem === undefined) return { ...index, fault: `has the format ${format}, which is not served here` };
  if (type === "group") return { ...index, fault: `is a group of other repositories: ${membersIn(attributes)}` };
  if (type === "proxy") return { ...index, upstream: upstreamOf(attributes, ecosystem) };
  if (type !== "hosted") return { ...index, fault: `has the type ${type}, which is not read` };
  if (ecosystem !== "python")
    return { ...index, fault: `holds packages of ${format}, which are not read from a Nexus: publish them again` };
  return { ...index, holdsProjects: true };
}

/** What a proxy asks. Its password is not said there. */
function upstreamOf({ proxy }: Record<string, unknown>, ecosystem: string): SourceUpstream {
  const said = isObject(proxy) ? proxy["remoteUrl"] : undefined;
  const url = typeof said === "string" ? URL.parse(said) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    return { fault: "the source says no URL that an upstream can have" };
  [url.username, url.password] = ["", ""];
  const base = withoutTrailingSlashes(url.href);
  if (ecosystem !== "python")
    return { fault: `make it by hand: moorage upstreams create GROUP --ecosystem ${ecosystem} --upstream-url ${base}` };
  // A Nexus names the index by what is above its pages.
  const index = base.endsWith("/simple") ? base : `${base}/simple`;
  return { url: index, isDisabled: false, note: "whether it asks with a password is not said there" };
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
  { repository, version, origin, nowMs }: { repository: string; version: string; origin: string; nowMs: number },
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
  const fault = faultOfHost(url, origin);
  if (fault !== undefined) return fault;
  if (!url.pathname.startsWith(`/repository/${repository}/`)) return "is a file of another repository";
  if (!isVersion("pypi", version)) return "its version is not one as PEP 440 has them";
  return faultOfFile(name);
}

/** When its bytes came: the earlier of when they were stored and when the asset changed last. */
function timeIn({ blobCreated, lastModified }: Record<string, unknown>, nowMs: number): string | undefined {
  const times = [blobCreated, lastModified].flatMap((said) => {
    const ms = isText(said) && said.includes("T") ? parseIso8601(said)?.lastMs : undefined;
    return ms === undefined || ms < 0 || ms > nowMs ? [] : [ms];
  });
  return times.length === 0 ? undefined : new Date(Math.min(...times)).toISOString();
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function shortIn(from: Record<string, unknown>, field: string): string {
  const value = from[field];
  return isText(value) ? value.slice(0, 200) : "";
}
