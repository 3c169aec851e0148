import { join } from "node:path";

/** A package of the server: the areas of its src, by layers, the lowest first. */
export interface ServerPackage {
  readonly name: string;
  /** An area is a folder, or a file that stands in src itself. Areas of one layer do not know each other. */
  readonly layers: readonly (readonly string[])[];
}

/** The packages that the server consists of: each uses those before it alone. */
export const SERVER_PACKAGES: readonly ServerPackage[] = [
  {
    name: "kernel",
    layers: [
      ["errors"],
      ["lib"],
      ["config", "blobs", "store", "signing"],
      ["core"],
      ["aip", "audit", "observe", "work"],
    ],
  },
  { name: "platform", layers: [["mail"], ["iam", "processes"], ["events", "auth"], ["webhooks"]] },
  { name: "registry", layers: [["registry"], ["trust", "upstreams"], ["oci"], ["mirroring"], ["replication"]] },
  { name: "security", layers: [["security"]] },
  { name: "libraries", layers: [["libraries"]] },
  {
    name: "server",
    layers: [
      ["ping", "jobs"],
      ["operations"],
      ["areas"],
      ["runtime"],
      ["v1", "mcp"],
      ["transport", "installation"],
      ["admin", "boot"],
      ["index"],
    ],
  },
];

/** The packages that the command is bundled of. */
export const BUNDLED_PACKAGES: readonly string[] = ["api", ...SERVER_PACKAGES.map(({ name }) => name), "cli"];

/** Where the sources of a package of this repository lie. */
export function sourcesOf(root: string, name: string): string {
  return join(root, "packages", name, "src");
}

/** The package of an area; undefined for what is none. */
export function packageOfArea(area: string): string | undefined {
  return SERVER_PACKAGES.find(({ layers }) => layers.flat().includes(area))?.name;
}
