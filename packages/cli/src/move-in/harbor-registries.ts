// Other registries that Harbor knows: those that its projects cache, and those that it replicates to.
// Source: Harbor's api/v2.0/swagger.yaml, and the kinds of registries in src/pkg/reg/model.
import { isObject } from "@moorage/kernel/lib/json";
import { type Fields, type Project, textIn } from "./harbor-api.ts";
import type { SourcePolicy } from "./model.ts";

/** Where a registry is. */
interface RegistryPlace {
  /** The host as here, with `http://` before it where it is not asked by https. */
  host: string;
  /** What stands in front of all names there; empty for nothing. */
  path: string;
}

const HUB = "docker-hub";
// Of other kinds the address is that of another API than images have.
const KINDS = [HUB, "harbor", "docker-registry", "quay", "github-ghcr", "azure-acr", "google-gcr"];
const HOST = /^[a-z0-9[][a-z0-9.:\]-]*$/;
const PATH = /^(?:[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)?$/;
const MAX_LENGTH = 255;
/** Passwords of other registries are not answered, and would not come. */
export const WITHOUT_PASSWORD = "disabled until it has a user name and a password, which do not come";

/** The parts of a path, without empty ones. */
export function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}

/** Where the registry's images are, as a text why that is not known. */
export function placeOf(registry: Fields): RegistryPlace | string {
  const kind = textIn(registry, "type");
  if (!KINDS.includes(kind))
    return `is a registry of the kind ${kind === "" ? "?" : kind}, whose images have another address`;
  if (kind === HUB) return { host: "docker.io", path: "" };
  const text = textIn(registry, "url");
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol)) return "has an address that is none";
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    return "has an address with more than a host and a path";
  const path = partsOf(url.pathname).join("/");
  if (!HOST.test(url.host) || !PATH.test(path) || url.host.length + path.length > MAX_LENGTH)
    return "has an address that cannot be one here";
  return { host: url.protocol === "http:" ? `http://${url.host}` : url.host, path };
}

/** Whether the registry is asked with a password there, or that is not known. */
function hasPassword(registry: Fields): boolean {
  const { credential } = registry;
  if (credential === undefined || credential === null) return false;
  return !isObject(credential) || textIn(credential, "access_key") !== "" || textIn(credential, "access_secret") !== "";
}

/** What a project that caches a registry becomes: its group stands for that. */
export function* upstreamPolicy(project: Project, registry: Fields): Generator<SourcePolicy> {
  const base = { kind: "registry-upstream", source: `${project.name}: cache`, below: project.name } as const;
  const place = placeOf(registry);
  if (typeof place === "string") return yield { ...base, fault: place };
  const filter = project.metadata["proxy_cache_filter_pattern"];
  const isFiltered = filter !== undefined && filter !== null && filter !== "";
  const speed = Number(project.metadata["proxy_speed_kb"] ?? -1);
  const isLocked = hasPassword(registry);
  const notes = [
    ...(isLocked ? [WITHOUT_PASSWORD] : []),
    ...(isFiltered ? ["disabled: which names may be pulled there has to be set as allowed"] : []),
    ...(speed > 0 ? ["its limit of speed does not come"] : []),
  ];
  const settings = { registry: place.host, prefix: place.path, disabled: isLocked || isFiltered };
  yield { ...base, source: `${base.source} of ${place.host}`, settings, notes };
}
