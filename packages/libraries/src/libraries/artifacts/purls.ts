import { writePurl } from "@moorage/kernel/lib/purls";
import type { LibraryName } from "@moorage/security/security";
import type { Row } from "@moorage/kernel/store";
import { ecosystemOf } from "../ecosystem/lookup.ts";

type Named = Pick<Row<"artifacts">, "ecosystem" | "normalized">;

/** The artifact by the parts of its purl. */
export function libraryOf({ ecosystem, normalized }: Named): LibraryName {
  const { key, purl } = ecosystemOf(ecosystem);
  return { type: key, ...purl.partsOf(normalized) };
}

/** The package URL of a version. */
export function purlOf(artifact: Named, version: string): string {
  const { type, namespace, name } = libraryOf(artifact);
  return writePurl({ type, namespace, name, version });
}
