import { isObject, parseJson } from "@moorage/kernel/lib/json";
import type { FileReader } from "../reader.ts";

const MAX_VALUES = 2_000_000;

/** The runtime that a program brings along, which is a package of NuGet under its name behind this. */
const RUNTIME_PACK = "runtimepack.";

/**
 * Packages of NuGet that a .NET program is made of, or a shared framework. Its own projects are no packages. Source:
 * .NET SDK, "Runtime configuration files".
 */
export const dotnetReader: FileReader = {
  name: "dotnet",
  maxBytes: 32 * 1024 * 1024,
  wants: (path) => path.endsWith(".deps.json"),
  read(file, packages) {
    const json = parseJson(file.text().replace(/^\uFEFF/, ""), 64, MAX_VALUES);
    const libraries = isObject(json) ? json["libraries"] : undefined;
    if (!isObject(libraries)) throw new Error("it has no libraries");
    for (const [title, library] of Object.entries(libraries)) {
      const type = isObject(library) ? library["type"] : undefined;
      if (type !== "package" && type !== "runtimepack") continue;
      const cut = title.lastIndexOf("/");
      const [full, version] = [title.slice(0, Math.max(0, cut)), title.slice(cut + 1)];
      const name = type === "runtimepack" && full.startsWith(RUNTIME_PACK) ? full.slice(RUNTIME_PACK.length) : full;
      if (name === "" || version === "" || name.includes("/")) packages.leaveOut();
      else packages.add({ type: "nuget", name, version });
    }
    return {};
  },
};
