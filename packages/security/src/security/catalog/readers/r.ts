import type { FileReader } from "../reader.ts";
import { paragraphs } from "./paragraphs.ts";

const PATH = /(?:^|\/)[^/]+\/DESCRIPTION$/;
const FIELDS = new Set(["package", "version", "license", "built", "biocviews"]);

/**
 * Packages of R in its libraries. What is installed says by which R it was built; sources of packages do not. Those of
 * Bioconductor are none of CRAN. Source: "Writing R Extensions", the DESCRIPTION file.
 */
export const rReader: FileReader = {
  name: "r",
  maxBytes: 4 * 1024 * 1024,
  wants: (path) => path.endsWith("/DESCRIPTION") && PATH.test(path),
  read(file, packages) {
    const [fields] = paragraphs(file.text(), FIELDS);
    if (fields?.get("built") === undefined) return {};
    const [name, version] = [fields.get("package"), fields.get("version")];
    if (!name || !version) return { unread: "it states neither a name nor a version" };
    const type = fields.get("biocviews") === undefined ? "cran" : "generic";
    packages.add({ type, name, version, licence: fields.get("license") ?? "" });
    return {};
  },
};
