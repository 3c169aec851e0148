import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs that the hints can use. The OCI clients come first, in the order of preference. */
const KNOWN = ["skopeo", "crane", "podman", "buildah", "oras", "curl", "grpcurl"] as const;

/** A program that the hints can use. */
export type Client = (typeof KNOWN)[number];

/** The known programs on the search path (the value of PATH). */
export function findClients(searchPath: string): Client[] {
  const folders = searchPath.split(delimiter).filter((folder) => folder !== "");
  return KNOWN.filter((name) =>
    folders.some((folder) => {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return true;
      } catch {
        return false; // not in this folder
      }
    }),
  );
}
