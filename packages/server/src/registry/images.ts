import { GetArchitecturesRequestSchema, GetSizeRequestSchema, type ImagesService } from "@moorage/api";
import { validate } from "../aip/validate.ts";
import type { Call } from "../core/call.ts";
import { invalidArgument, notFound } from "../errors.ts";
import type { Service, ServiceContext } from "../core/service.ts";
import { repos } from "./repos.ts";

interface Platform {
  architecture?: string;
  variant?: string;
}
interface Descriptor {
  digest: string;
  size: number;
  platform?: Platform;
}
/** The fields of a stored manifest that are used here. It was validated when it was pushed. */
interface Manifest {
  manifests?: Descriptor[];
  config?: Descriptor;
  layers?: Descriptor[];
}
interface Image {
  architecture: string;
  size: number;
}

const MAX_CONFIG_BYTES = 4 << 20;
// The architecture of attestations, which an index lists beside the images.
const NO_ARCHITECTURE = "unknown";
const PREFERRED = "amd64";

export function imagesService({ readBlob }: ServiceContext): Service<typeof ImagesService> {
  return {
    async getArchitectures(call, request) {
      validate(GetArchitecturesRequestSchema, request);
      const images = await imagesOf(call, readBlob, request.repoUid, request.digest);
      return { architectures: [...new Set(images.map(({ architecture }) => architecture))].sort() };
    },
    async getSize(call, request) {
      validate(GetSizeRequestSchema, request);
      const images = await imagesOf(call, readBlob, request.repoUid, request.digest);
      const wanted = request.architecture;
      const image = wanted === "" ? (find(images, PREFERRED) ?? images[0]) : find(images, wanted);
      if (image === undefined)
        throw invalidArgument({
          field: "architecture",
          description: `the image is for ${images.map(({ architecture }) => architecture).join(", ") || "no architecture"}`,
        });
      return { size: BigInt(image.size), architecture: image.architecture };
    },
  };
}

/** The image for that architecture; the architecture's name without a variant matches too. */
function find(images: Image[], wanted: string): Image | undefined {
  return (
    images.find(({ architecture }) => architecture === wanted) ??
    images.find(({ architecture }) => architecture.startsWith(`${wanted}/`))
  );
}

type ReadBlob = ServiceContext["readBlob"];

async function imagesOf(call: Call, readBlob: ReadBlob, repo: string, digest: string): Promise<Image[]> {
  await repos.get(call.tx, repo);
  const manifest = await manifestOf(call, repo, digest);
  if (manifest === undefined) throw notFound("moorage.registry.v2.Image", digest);
  if (manifest.manifests === undefined)
    return [await imageOf(call, readBlob, repo, manifest, undefined)].filter(isForMachine);
  const images: Image[] = [];
  for (const { digest: child, platform } of manifest.manifests) {
    const found = await manifestOf(call, repo, child);
    if (found !== undefined && found.manifests === undefined)
      images.push(await imageOf(call, readBlob, repo, found, platform));
  }
  return images.filter(isForMachine);
}

function isForMachine({ architecture }: Image): boolean {
  return architecture !== "" && architecture !== NO_ARCHITECTURE;
}

async function manifestOf(call: Call, repo: string, digest: string): Promise<Manifest | undefined> {
  const row = await call.tx
    .selectFrom("manifests")
    .select("content")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(Buffer.from(row.content).toString()) as Manifest);
}

async function imageOf(
  call: Call,
  readBlob: ReadBlob,
  repo: string,
  { config, layers = [] }: Manifest,
  platform: Platform | undefined,
): Promise<Image> {
  const size = layers.reduce((sum, layer) => sum + layer.size, config?.size ?? 0);
  const known = platform?.architecture === undefined ? await platformOf(call, readBlob, repo, config) : platform;
  return { architecture: [known.architecture, known.variant].filter(Boolean).join("/"), size };
}

async function platformOf(
  call: Call,
  readBlob: ReadBlob,
  repo: string,
  config: Descriptor | undefined,
): Promise<Platform> {
  const content = config === undefined ? undefined : await readBlob(call, repo, config.digest, MAX_CONFIG_BYTES);
  if (content === undefined) return {};
  try {
    const { architecture, variant } = JSON.parse(Buffer.from(content).toString()) as Record<string, unknown>;
    return {
      ...(typeof architecture === "string" && { architecture }),
      ...(typeof variant === "string" && { variant }),
    };
  } catch {
    // Not every artifact has a JSON config; one without has no architecture.
    return {};
  }
}
