import type { Call } from "@moorage/kernel/core/call";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { sourcePurlOf } from "../catalog/purls.ts";
import { productsByKey, releaseOf } from "../end-of-life/products.ts";
import { productKey } from "../records/fields.ts";
import { type HeldPackage, holdingsByImage, type ImageHoldings } from "../images/holdings.ts";

/** What is known about one package of an image. */
export interface PackageFacts {
  purl: string;
  /** The purl of the source package that it was built from; empty when there is none. */
  originPurl: string;
  /**
   * The end of life of its release cycle: the beginning of that day in UTC, in milliseconds since 1970. Undefined when
   * no feed has a day for it.
   */
  eolMs: number | undefined;
  /** As the package states it; empty when it states none. */
  licence: string;
}

/** The packages of one image. */
export interface ImagePackages {
  digest: string;
  packages: PackageFacts[];
}

/** An image by its digest, or an image of an index by the index and the architecture; that is empty otherwise. */
export interface ImageName {
  digest: string;
  architecture: string;
}

/**
 * What is known about the packages of the images, one image at a time. Left out are images that the repo does not hold,
 * that are not read (yet), and that the index does not name. Throws ABORTED when the caller leaves.
 */
export async function* packageFacts(
  call: Call,
  repo: string,
  images: readonly ImageName[],
): AsyncGenerator<ImagePackages, void, undefined> {
  for (const image of images) {
    call.requireCaller();
    try {
      for await (const { digest, packages } of holdingsByImage(call, { repo, ...image, source: "" }))
        yield { digest, packages: await factsOf(call, packages) };
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  }
}

/** Whether the error is that nothing is known about the image. */
function isUnknown(error: unknown): boolean {
  if (!(error instanceof MoorageError)) return false;
  const { code, details } = error;
  if (code === Code.InvalidArgument) return details.fieldViolations?.[0]?.field === "architecture";
  return code === Code.NotFound || code === Code.FailedPrecondition;
}

async function factsOf({ tx }: Call, packages: ImageHoldings["packages"]): Promise<PackageFacts[]> {
  const products = await productsByKey(
    tx,
    packages.map(({ purl }) => productKey(purl)),
  );
  const eolOf = ({ purl, version }: HeldPackage): number | undefined => {
    const product = products.get(productKey(purl));
    const eol = product && releaseOf(product, version)?.eol;
    return typeof eol === "number" ? eol : undefined;
  };
  return packages.map((each) => ({
    purl: each.purl,
    originPurl: sourcePurlOf(each.purl, { name: each.sourceName, version: each.sourceVersion }) ?? "",
    eolMs: eolOf(each),
    licence: each.licence,
  }));
}
