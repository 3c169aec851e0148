import { parseImageSource } from "../registry/index.ts";

/** Docker Hub, by the name that people write. */
const DOCKER_IO = "docker.io";

// Its registry is elsewhere than its name says.
const DOCKER_ORIGIN = "https://registry-1.docker.io";
const DOCKER_NAMES: readonly string[] = [DOCKER_IO, "index.docker.io", "registry-1.docker.io"];

/**
 * The name of a registry by which it is compared: without a scheme, in lower case, docker.io for all of its names. It
 * is a key: nothing is connected to by it.
 */
export function registryKey(registry: string): string {
  const host = registry
    .slice(0, 300)
    .toLowerCase()
    .replace(/^https?:\/\//, "");
  return DOCKER_NAMES.includes(host) ? DOCKER_IO : host;
}

/** Scheme, host and port of a registry; undefined for what is none. */
export function registryOrigin(registry: string): string | undefined {
  if (registryKey(registry) === DOCKER_IO) return DOCKER_ORIGIN;
  return parseImageSource(`${registry}/name`)?.origin;
}

/**
 * The name at the registry of what clients call by `rest`, below the group that stands for it. At docker.io a name of
 * one part is that of an official image, which is below library/.
 */
export function nameAt({ registry, prefix }: { registry: string; prefix: string }, rest: string): string {
  const name = prefix === "" ? rest : `${prefix}/${rest}`;
  return registryKey(registry) === DOCKER_IO && !name.includes("/") ? `library/${name}` : name;
}

/** The same name as it stands below the group here. */
export function restOf({ prefix }: { prefix: string }, name: string): string {
  return prefix === "" ? name : name.slice(prefix.length + 1);
}
