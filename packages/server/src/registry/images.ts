import { GetArchitecturesRequestSchema, GetSizeRequestSchema, type ImagesService } from "@moorage/api/messages";
import { validate } from "../aip/validate.ts";
import type { Call } from "../core/call.ts";
import { invalidArgument, notFound } from "../errors.ts";
import type { Service, ServiceContext } from "../core/service.ts";
import { type Image, imagesOf } from "./image-sizes.ts";
import { repos } from "./repos.ts";

// The architecture of attestations, which an index lists beside the images.
const NO_ARCHITECTURE = "unknown";
const PREFERRED = "amd64";

export function imagesService({ readBlob }: ServiceContext): Service<typeof ImagesService> {
  const find = async (call: Call, repo: string, digest: string): Promise<Image[]> => {
    await repos.get(call.tx, repo);
    const images = await imagesOf({ call, readBlob, repo }, digest);
    if (images === undefined) throw notFound("moorage.registry.v2.Image", digest);
    return images.filter(({ architecture }) => architecture !== "" && architecture !== NO_ARCHITECTURE);
  };
  return {
    async getArchitectures(call, request) {
      validate(GetArchitecturesRequestSchema, request);
      const images = await find(call, request.repoUid, request.digest);
      return { architectures: [...new Set(images.map(({ architecture }) => architecture))].sort() };
    },
    async getSize(call, request) {
      validate(GetSizeRequestSchema, request);
      const images = await find(call, request.repoUid, request.digest);
      const wanted = request.architecture;
      const image = wanted === "" ? (imageFor(images, PREFERRED) ?? images[0]) : imageFor(images, wanted);
      if (image === undefined)
        throw invalidArgument({
          field: "architecture",
          description: `the image is for ${[...new Set(images.map(({ architecture }) => architecture))].join(", ") || "no architecture"}`,
        });
      return { size: BigInt(image.size), architecture: image.architecture };
    },
  };
}

/** The image for that architecture; the architecture's name without a variant matches too. */
function imageFor(images: Image[], wanted: string): Image | undefined {
  return (
    images.find(({ architecture }) => architecture === wanted) ??
    images.find(({ architecture }) => architecture.startsWith(`${wanted}/`))
  );
}
