import type { FileReader } from "../reader.ts";
import { paragraphs } from "./paragraphs.ts";

const FIELDS = new Set(["package", "status", "version", "architecture", "source"]);
// `config-files` and `not-installed` are packages that were removed; all other states have files.
const GONE = new Set(["not-installed", "config-files"]);

/** Packages of Debian and its descendants. Source: dpkg-query(1), and distroless for `status.d`. */
export const dpkgReader: FileReader = {
  name: "dpkg",
  maxBytes: 64 * 1024 * 1024,
  wants: (path) =>
    path === "var/lib/dpkg/status" || (/^var\/lib\/dpkg\/status\.d\/[^/]+$/.test(path) && !path.endsWith(".md5sums")),
  read(file, packages) {
    for (const fields of paragraphs(file.text(), FIELDS)) {
      const [name, version] = [fields.get("package"), fields.get("version")];
      const state = fields.get("status")?.split(/\s+/)[2] ?? "installed";
      if (!name || !version || GONE.has(state)) continue;
      // `Source: name (version)`, without what is as the package's own.
      const [, sourceName, sourceVersion] = /^([^\s(]+)(?:\s*\(([^)\s]+)\))?/.exec(fields.get("source") ?? "") ?? [];
      packages.add({
        type: "deb",
        name,
        version,
        architecture: fields.get("architecture") ?? "",
        sourceName: sourceName ?? name,
        sourceVersion: sourceVersion ?? version,
      });
    }
    return {};
  },
};
