import { Capability, type ListTagsRequest, TagFindings, TagSignature } from "@moorage/api/messages";
import type { JudgeRow } from "@moorage/kernel/aip/scan-page";
import type { Call } from "@moorage/kernel/core/call";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { Code, MoorageError } from "@moorage/kernel/errors";
import { createLru } from "@moorage/kernel/lib/lru";
import { parentOf } from "@moorage/kernel/lib/uid";
import { statement } from "@moorage/kernel/store";
import { type Image, imagesOf } from "./image-sizes.ts";

/** What a tag points to. The repo need not hold it. */
export interface TagImage {
  repo: string;
  digest: string;
}

/** Whether it is as a filter asks; undefined: that is not known. */
type Fits = Promise<boolean | undefined>;

/** What areas above know of images, each for one call. */
export interface FactsOfTags {
  signatures(call: Call, asked: TagSignature): (image: TagImage) => Fits;
  findings(call: Call, asked: TagFindings): (image: TagImage) => Fits;
}

/** A filter of a list of tags. */
interface Filter {
  /** What the caller must hold in the repo: without, it knows nothing of the image. */
  needs: readonly Capability[];
  /** Whether what is not known is what is asked for. */
  isOfUnknown: boolean;
  /** What it takes to judge an image, of the MOST_SPENT for a page. */
  cost: number;
  fits: (image: TagImage) => Fits;
}

const READ_IMAGES = [Capability.CAP_REPO_LIST, Capability.CAP_MANIFEST_METADATA_LIST];
const READ_SIGNATURES = [Capability.CAP_REPO_LIST, Capability.CAP_SIGNATURES_LIST];
/** Of so many digests a call remembers how they were judged: tags often point to the same. */
const MAX_KNOWN = 1_000;

/**
 * What the request asks of the images of tags, the cheapest first; undefined when it asks nothing of them. What the
 * caller may not read counts as not known, so that a filter says no more than the method that answers it.
 */
export function judgeOfTags(
  call: Call,
  readBlob: ServiceContext["readBlob"],
  { architecture, signature, findings }: ListTagsRequest,
  facts: FactsOfTags,
): JudgeRow | undefined {
  const filters: Filter[] = [];
  if (architecture !== "")
    filters.push({
      needs: READ_IMAGES,
      isOfUnknown: false,
      cost: 1,
      fits: (image) => isFor(call, readBlob, image, architecture),
    });
  if (signature !== TagSignature.UNSPECIFIED)
    filters.push({
      needs: READ_SIGNATURES,
      isOfUnknown: signature === TagSignature.UNKNOWN,
      cost: 2,
      fits: facts.signatures(call, signature),
    });
  if (findings !== TagFindings.UNSPECIFIED)
    filters.push({
      needs: READ_IMAGES,
      isOfUnknown: findings === TagFindings.UNKNOWN,
      cost: 5,
      fits: facts.findings(call, findings),
    });
  if (filters.length === 0) return undefined;
  const known = createLru<string, boolean | "unknown">(MAX_KNOWN);
  return async (cell) => {
    const image = { repo: parentOf(String(cell("uid"))), digest: String(cell("digest")) };
    const key = `${image.repo} ${image.digest}`;
    const before = known.get(key);
    if (before !== undefined) return { fits: before === "unknown" ? undefined : before, cost: 0 };
    const found = await judged(call, filters, image);
    known.set(key, found.fits ?? "unknown");
    return found;
  };
}

/** Whether all filters are met. What one of them leaves out is left out, whatever is not known for the others. */
async function judged(call: Call, filters: readonly Filter[], image: TagImage) {
  let cost = 0;
  let fits: boolean | undefined = true;
  for (const filter of filters) {
    const mayRead = await holdsAll(call, filter.needs, image.repo);
    if (mayRead) cost += filter.cost;
    const own = mayRead ? await filter.fits(image) : filter.isOfUnknown || undefined;
    if (own === false) return { fits: false, cost };
    if (own === undefined) fits = undefined;
  }
  return { fits, cost };
}

async function holdsAll(call: Call, needs: readonly Capability[], repo: string): Promise<boolean> {
  for (const need of needs) if (!(await call.may(need, repo))) return false;
  return true;
}

const selectMissing = statement(
  `select 1 as one from manifest_references as r where r.repo = ? and r.digest = ? and r.kind = 'manifest'
    and not exists (select 1 from manifests as m where m.repo = r.repo and m.digest = r.target) limit 1`,
);

/** Whether one of the images is for the architecture. An index may name images that the repo does not hold. */
async function isFor(
  call: Call,
  readBlob: ServiceContext["readBlob"],
  { repo, digest }: TagImage,
  wanted: string,
): Fits {
  // Before the images: what comes meanwhile is missing still, instead of not being there.
  const isMissing = (await selectMissing(call.tx, repo, digest)).length > 0;
  const images = await readable({ call, readBlob, repo }, digest);
  if (images === undefined) return undefined;
  const isThere = images.some(({ architecture }) => architecture === wanted || architecture.startsWith(`${wanted}/`));
  return isThere || (isMissing ? undefined : false);
}

/** The images; undefined when the repo does not hold the manifest, or when they are too many to be looked at. */
async function readable(place: Parameters<typeof imagesOf>[0], digest: string): Promise<Image[] | undefined> {
  try {
    return await imagesOf(place, digest);
  } catch (error) {
    if (error instanceof MoorageError && error.code === Code.InvalidArgument) return undefined;
    throw error;
  }
}
