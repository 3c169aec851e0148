import { parsedPurl, writePurl } from "@moorage/kernel/lib/purls";
import { isoTime } from "@moorage/kernel/lib/timestamps";
import type { ImageStatement } from "./image-statements.ts";
import type { Publisher } from "./openvex.ts";

/** An image with the statements that hold for it; of an index one of its images, or itself. */
export interface StatedImage {
  digest: string;
  /** Empty when it is not known. */
  architecture: string;
  statements: ImageStatement[];
  /** The purls of all packages that it holds. */
  purls: ReadonlySet<string>;
}

/** What is said of an image, or of all images of an index. */
export interface StatedImages {
  repo: string;
  /** Of the repo's image, as `acme/web`. */
  path: string;
  /** The image that was asked for, or the index. */
  digest: string;
  /** That image alone, or those of the index of which something is known. */
  images: StatedImage[];
  /** When something of it was last said or taken back, in milliseconds since 1970. */
  changedMs: number;
}

/**
 * The statements about the image in the form of OpenVEX, in an order that depends on nothing else. Of an index each
 * names its images, and the index itself for packages of which all images that hold them say the same.
 */
export function openVexStatements(stated: StatedImages, { url, registry }: Publisher): object[] {
  const groups = new Map<string, { said: ImageStatement; in: [StatedImage, ImageStatement["packages"]][] }>();
  for (const image of stated.images)
    for (const { packages, ...each } of image.statements) {
      const key = JSON.stringify(each);
      const group = groups.get(key) ?? { said: { ...each, packages }, in: [] };
      group.in.push([image, packages]);
      groups.set(key, group);
    }
  const path = `${registry}/${stated.path}`;
  const made = [...groups.values()].map(({ said, in: images }) => {
    const { ids, statement, timeMs, supplier, advisory } = said;
    const { status, justification, impact, action, notes } = statement;
    const [name = "", ...aliases] = ids;
    const shared = sharedBy(stated, images);
    return {
      ...(advisory !== undefined && { "@id": `${url}/vulnerabilities/v2/advisories/${advisory}` }),
      vulnerability: { name, ...(aliases.length > 0 && { aliases: [...new Set(aliases)] }) },
      timestamp: isoTime(timeMs),
      products: [
        ...(shared === undefined ? [] : [productOf({ digest: stated.digest, architecture: "" }, path, shared)]),
        ...images
          .filter(([{ digest }]) => digest !== stated.digest || shared === undefined)
          .map(([image, packages]) => productOf(image, path, packages)),
      ],
      status,
      ...(supplier !== "" && { supplier }),
      ...(justification !== undefined && { justification }),
      ...(impact !== undefined && { impact_statement: impact }),
      ...(action !== undefined && { action_statement: action }),
      ...(notes !== undefined && { status_notes: notes }),
    };
  });
  const texts = made.map((each) => JSON.stringify(each)).sort();
  return [...new Set(texts)].map((text) => JSON.parse(text) as object);
}

/** The OpenVEX document of an image. Source: OpenVEX specification 0.2.0. */
export function imageOpenVex(stated: StatedImages, publisher: Publisher, statements: readonly object[]): object {
  const { name, url } = publisher;
  return {
    "@context": "https://openvex.dev/ns/v0.2.0",
    "@id": `${url}/vulnerabilities/v2/repos/${stated.repo}/vex?reference=${stated.digest}`,
    author: name,
    timestamp: isoTime(stated.changedMs),
    // A version is higher than all before, also when something was taken back.
    version: Math.max(1, Math.floor(stated.changedMs / 1000)),
    tooling: "moorage",
    statements,
  };
}

/** What holds for the index as a whole; undefined when nothing does. Of a single image that is what holds for it. */
function sharedBy(
  { digest, images: all }: StatedImages,
  images: readonly [StatedImage, ImageStatement["packages"]][],
): ImageStatement["packages"] | undefined {
  const [first] = images;
  if (first !== undefined && all.length === 1 && first[0].digest === digest) return undefined;
  if (images.every(([, packages]) => packages === "all")) return images.length === all.length ? "all" : undefined;
  const named = new Set(images.flatMap(([, packages]) => (packages === "all" ? [] : packages)));
  const by = new Map(images);
  const shared = [...named].filter((purl) =>
    all.every((image) => {
      const packages = by.get(image);
      return !image.purls.has(purl) || packages === "all" || packages?.includes(purl) === true;
    }),
  );
  return shared.length === 0 ? undefined : shared.sort();
}

/**
 * The image as a product. `@id` says where it is; the purl below has the digest alone, which is enough, and which other
 * tools match whatever they call the place.
 */
function productOf(
  { digest, architecture }: Pick<StatedImage, "digest" | "architecture">,
  path: string,
  packages: ImageStatement["packages"],
): object {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase() || "image";
  const arch = architecture.split("/", 1)[0] ?? "";
  const [algorithm = "", hex = ""] = digest.split(":");
  const purl = (qualifiers: Record<string, string> | undefined): string =>
    writePurl({ type: "oci", name, version: digest, qualifiers });
  return {
    "@id": purl({ ...(arch !== "" && { arch }), repository_url: path }),
    identifiers: { purl: purl(undefined) },
    hashes: { [algorithm.replace("sha", "sha-")]: hex },
    ...(packages !== "all" && { subcomponents: packages.map(subcomponentOf) }),
  };
}

/** Its own purl, and one without what tools write in different ways, such as the release of a distribution. */
function subcomponentOf(own: string): object {
  const parts = parsedPurl(own);
  return { "@id": own, identifiers: { purl: parts === undefined ? own : writePurl({ ...parts, qualifiers: {} }) } };
}
