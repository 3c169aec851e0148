import {
  GetArchitecturesRequestSchema,
  GetBaseRequestSchema,
  GetSizeRequestSchema,
  type ImagesService,
} from "@moorage/api/messages";
import { validate } from "@moorage/kernel/aip/validate";
import { invalidArgument, notFound } from "@moorage/kernel/errors";
import type { Service, ServiceContext } from "@moorage/kernel/core/service";
import { baseOf, isOneImage } from "./image-base.ts";
import { type Image, imagesOf, type Place } from "./image-sizes.ts";
import { repos } from "./repos.ts";

// The architecture of attestations, which an index lists beside the images.
const NO_ARCHITECTURE = "unknown";
const PREFERRED = "amd64";

export function imagesService({ readBlob }: ServiceContext): Service<typeof ImagesService> {
  return {
    async getArchitectures(call, request) {
      validate(GetArchitecturesRequestSchema, request);
      const images = await imagesAt({ call, readBlob, repo: request.repoUid }, request.digest);
      return { architectures: [...new Set(images.map(({ architecture }) => architecture))].sort() };
    },
    async getSize(call, request) {
      validate(GetSizeRequestSchema, request);
      const image = await imageFor({ call, readBlob, repo: request.repoUid }, request);
      return { size: BigInt(image.size), architecture: image.architecture };
    },
    async getBase(call, request) {
      validate(GetBaseRequestSchema, request);
      const { repoUid: repo, digest, architecture } = request;
      await repos.get(call.tx, repo);
      const isImage = architecture === "" && (await isOneImage(call, repo, digest));
      return await baseOf(call, repo, isImage ? digest : (await imageFor({ call, readBlob, repo }, request)).digest);
    },
  };
}

/**
 * The image for the architecture; its name without a variant matches too. Without one it is the image for amd64, or the
 * first. Throws NOT_FOUND when the repo is not there or does not hold the digest, and INVALID_ARGUMENT on
 * `architecture` when no image is for it.
 */
export async function imageFor(
  place: Place,
  { digest, architecture: wanted }: { digest: string; architecture: string },
): Promise<Image> {
  const images = await imagesAt(place, digest);
  const image = wanted === "" ? (among(images, PREFERRED) ?? images[0]) : among(images, wanted);
  if (image !== undefined) return image;
  const known = [...new Set(images.map(({ architecture }) => architecture))].join(", ");
  throw invalidArgument({
    field: "architecture",
    description: `the image is for ${known || "no architecture"}`,
  });
}

async function imagesAt(place: Place, digest: string): Promise<Image[]> {
  await repos.get(place.call.tx, place.repo);
  const images = await imagesOf(place, digest);
  if (images === undefined) throw notFound("moorage.registry.v2.Image", digest);
  return images.filter(({ architecture }) => architecture !== "" && architecture !== NO_ARCHITECTURE);
}

function among(images: readonly Image[], wanted: string): Image | undefined {
  return (
    images.find(({ architecture }) => architecture === wanted) ??
    images.find(({ architecture }) => architecture.startsWith(`${wanted}/`))
  );
}
