import { linesOf } from "./lines.ts";
import type { FileReader } from "../reader.ts";

/** Packages of Alpine, Wolfi and the like. Source: apk-package(5), the installed database. */
export const apkReader: FileReader = {
  name: "apk",
  maxBytes: 64 * 1024 * 1024,
  wants: (path) => path === "lib/apk/db/installed" || path === "usr/lib/apk/db/installed",
  read(file, packages) {
    let fields: Record<string, string> = {};
    const end = (): void => {
      const { P: name, V: version, A: architecture, L: licence, o: origin } = fields;
      fields = {};
      if (!name || !version) return;
      packages.add({
        type: "apk",
        name,
        version,
        architecture: architecture ?? "",
        licence: licence ?? "",
        // All packages of one origin are built together, with its version.
        sourceName: origin || name,
        sourceVersion: version,
      });
    };
    for (const line of linesOf(file.text())) {
      if (line === "") end();
      else if (line[1] === ":" && "PVALo".includes(line[0] ?? "")) fields[line[0] ?? ""] = line.slice(2).trim();
    }
    end();
    return {};
  },
};
