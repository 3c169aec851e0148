import { ProductSource } from "@moorage/api/messages";
import type { Database } from "@moorage/kernel/store";
import { countingSources } from "../attached/sources.ts";
import { lookUpPackages, type NamedPackage } from "../packages/lookup.ts";
import { productKey } from "../records/fields.ts";
import type { ImageFacts } from "./image-facts.ts";
import { type Product, productById, productByPurl } from "./products.ts";

/** What is known of the repo of an image. */
export interface RepoFacts {
  name: string;
  /** The product that the repo names; empty for none. */
  product: string;
  /** The source that it is copied from; empty for none. */
  source: string;
}

/** The product that an image is. */
export interface MainProduct {
  product: Product;
  source: ProductSource;
}

/** The version of that product in an image, and what it was read from. */
export interface ProductVersionFound {
  version: string;
  source: string;
}

interface RepoImage {
  repo: string;
  digest: string;
}

const GITHUB = /^https?:\/\/github\.com\/([\w.-]+)\/([\w.-]+?)(?:\.git)?(?:[/#?].*)?$/i;
const DOCKER_HUB = /^(?:https?:\/\/)?(?:registry-1\.|index\.)?docker\.io\/(.+)$/;
// ids of os-release that are not the product's.
const OS_PRODUCTS: ReadonlyMap<string, string> = new Map([
  ["alpine", "alpine-linux"],
  ["rocky", "rocky-linux"],
  ["amzn", "amazon-linux"],
]);
const MAX_PACKAGES = 100;
const MAX_NAMES = 50;

/** The product that the image is: by the repo's setting, by labels, by the image's own purl, or by a package. */
export async function mainProductOf(
  tx: Database,
  repo: RepoFacts,
  { repo: uid, digest, labels }: ImageFacts,
): Promise<MainProduct | undefined> {
  const found = (product: Product | undefined, source: ProductSource): MainProduct | undefined =>
    product === undefined ? undefined : { product, source };
  if (repo.product !== "") return found(await productById(tx, repo.product), ProductSource.REPO);
  const [, owner, project] = GITHUB.exec(labels.get("source") ?? "") ?? [];
  const github = owner === undefined ? [] : [`pkg:github/${owner}/${project}`.toLowerCase()];
  const labeled =
    (await productById(tx, (labels.get("title") ?? "").toLowerCase())) ?? (await productByPurl(tx, github));
  return (
    found(labeled, ProductSource.LABEL) ??
    found(await productByPurl(tx, purlsOf(repo)), ProductSource.IMAGE) ??
    found(await productByPackage(tx, { repo: uid, digest }, repo.name), ProductSource.PACKAGE)
  );
}

/** The version of the product in the image: of a package, of the operating system, of a label, or of the tag's name. */
export async function versionOf(
  tx: Database,
  product: Product,
  { repo, digest, labels }: ImageFacts,
  tag: string,
): Promise<ProductVersionFound | undefined> {
  const names = [...new Set(product.purls.flatMap(namesOf))].slice(0, MAX_NAMES);
  const own = (await packagesIn(tx, { repo, digest }, names)).find(({ purl }) =>
    product.purls.includes(productKey(purl)),
  );
  if (own !== undefined) return { version: own.version, source: own.purl };
  const os = await tx
    .selectFrom("image_catalogs")
    .select(["os_id", "os_version"])
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (os !== undefined && os.os_version !== "" && (OS_PRODUCTS.get(os.os_id) ?? os.os_id) === product.id)
    return { version: os.os_version, source: "os-release" };
  const label = labels.get("version") ?? "";
  if (/^v?\d/i.test(label)) return { version: label, source: "org.opencontainers.image.version" };
  return /^v?\d/i.test(tag) ? { version: tag, source: "tag" } : undefined;
}

/** The names that the package of a purl may have: with its namespace, as npm's have, and without. */
function namesOf(purl: string): string[] {
  const path = decodedOf(purl.slice(purl.indexOf("/") + 1));
  return [path, path.slice(path.lastIndexOf("/") + 1)];
}

function decodedOf(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function purlsOf({ name, source }: RepoFacts): string[] {
  const [, path] = DOCKER_HUB.exec(source) ?? [];
  const copied = source === "" ? [] : [`pkg:oci/${source.slice(source.lastIndexOf("/") + 1)}`];
  const hub = path === undefined ? [] : [`pkg:docker/${path.includes("/") ? path : `library/${path}`}`];
  return [...hub, ...copied, `pkg:oci/${name}`, `pkg:docker/library/${name}`];
}

async function productByPackage(tx: Database, image: RepoImage, name: string): Promise<Product | undefined> {
  const purls = (await packagesIn(tx, image, [name])).map(({ purl }) => purl);
  return await productByPurl(tx, [...new Set(purls.map(productKey))]);
}

/** The packages of these names, by the sources that count for the image in the repo. */
async function packagesIn(tx: Database, image: RepoImage, names: readonly string[]): Promise<NamedPackage[]> {
  const sources = names.length === 0 ? [] : (await countingSources(tx, image)).map(({ source }) => source);
  const found: NamedPackage[] = [];
  const options = { image: { digest: image.digest, sources }, limit: MAX_PACKAGES };
  await lookUpPackages(tx, { names }, options, (row) => void found.push(row));
  return found;
}
