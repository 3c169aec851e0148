import { linesOf } from "./lines.ts";
import type { FileReader } from "../reader.ts";

/** The longest value that is kept, in characters. */
const MAX_VALUE = 64;

/** The distribution. Source: os-release(5). */
export const osReleaseReader: FileReader = {
  name: "os-release",
  maxBytes: 64 * 1024,
  wants: (path) => path === "etc/os-release" || path === "usr/lib/os-release",
  read(file) {
    const values = new Map<string, string>();
    for (const line of linesOf(file.text())) {
      const [, key, value] = /^([A-Z_]+)=(.*)$/.exec(line.trim()) ?? [];
      if (key !== undefined && value !== undefined)
        values.set(key, unquoted(value).replaceAll("\0", "").slice(0, MAX_VALUE));
    }
    const os = {
      id: values.get("ID") ?? "",
      versionId: values.get("VERSION_ID") ?? "",
      prettyName: values.get("PRETTY_NAME") ?? "",
    };
    return { os };
  },
};

function unquoted(value: string): string {
  const quoted = /^"(.*)"$|^'(.*)'$/.exec(value);
  return (quoted?.[1] ?? quoted?.[2] ?? value).replaceAll(/\\(["'$`\\])/g, "$1");
}
