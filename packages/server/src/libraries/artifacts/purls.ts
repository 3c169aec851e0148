import { writePurl } from "../../lib/purls/index.ts";
import type { LibraryName } from "../../security/index.ts";
import type { Row } from "../../store/index.ts";
import { ecosystemOf } from "../ecosystems.ts";

type Named = Pick<Row<"artifacts">, "ecosystem" | "normalized">;

/** The artifact by the parts of its purl: the scope of npm and the groupId of Maven are namespaces. */
export function libraryOf({ ecosystem, normalized }: Named): LibraryName {
  const type = ecosystemOf(ecosystem).key;
  const cut = type === "npm" ? (normalized.startsWith("@") ? normalized.indexOf("/") : -1) : normalized.indexOf(":");
  return type === "pypi" || cut < 0
    ? { type, namespace: "", name: normalized }
    : { type, namespace: normalized.slice(0, cut), name: normalized.slice(cut + 1) };
}

/** The package URL of a version. */
export function purlOf(artifact: Named, version: string): string {
  const { type, namespace, name } = libraryOf(artifact);
  return writePurl({ type, namespace, name, version });
}
