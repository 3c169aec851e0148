import { namedPurl, writePurl } from "@moorage/kernel/lib/purls";
import type { Row } from "@moorage/kernel/store";
import { packageKind } from "../records/package-kinds.ts";

/** What a decision is about, as purls. */
export interface Product {
  /** The artifact. */
  purl: string;
  name: string;
  /** The component in it, with each version that is named; none when it is about the artifact itself. */
  components: { purl: string; name: string }[];
}

/** `registry`: the host of images, without a scheme. `versions`: of the component, or of the artifact without one. */
export function productOf(
  row: Pick<
    Row<"advisories">,
    "artifact_name" | "artifact_type" | "artifact_architecture" | "component_name" | "component_type"
  >,
  versions: readonly string[],
  registry: string,
): Product {
  const { artifact_name: artifact, artifact_architecture: arch, component_name: component } = row;
  const own = component === "" ? versions : [];
  const purl =
    row.artifact_type.toUpperCase() === "OCI_IMAGE"
      ? imagePurl(artifact, arch, registry)
      : packagePurl(row.artifact_type, artifact, own.length === 1 ? own[0] : undefined, arch);
  const named = component === "" ? [] : versions.length === 0 ? [undefined] : versions;
  return {
    purl,
    name: artifact,
    components: named.map((version) => ({
      purl: packagePurl(row.component_type, component, version, ""),
      name: version === undefined ? component : `${component} ${version}`,
    })),
  };
}

/** The last part of the path is the name. Source: purl specification, type oci. */
function imagePurl(path: string, arch: string, registry: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const qualifiers = { ...(arch !== "" && { arch }), repository_url: `${registry}/${path}` };
  return writePurl({ type: "oci", name: name || "image", qualifiers });
}

/** Types of purls whose packages may have a namespace. Source: the types of purl-spec. */
const WITH_NAMESPACES: ReadonlySet<string> = new Set(["npm", "golang", "maven", "composer", "swift"]);

function packagePurl(kind: string, name: string, version: string | undefined, arch: string): string {
  const type = packageKind(kind)?.purlType ?? "generic";
  const cut = type === "maven" && name.includes(":") ? name.indexOf(":") : name.lastIndexOf("/");
  const hasNamespace = cut > 0 && WITH_NAMESPACES.has(type);
  const [namespace, last] = hasNamespace ? [name.slice(0, cut), name.slice(cut + 1)] : ["", name];
  // An artifact of Maven has a group, and a package of Swift a host and an owner.
  const written = (type === "maven" || type === "swift") && namespace === "" ? "generic" : type;
  const purl = namedPurl({ type: written, namespace, name: last, version: version ?? "", qualifiers: new Map() });
  return writePurl({ ...purl, qualifiers: { arch } });
}
