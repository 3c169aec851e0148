import { create } from "@bufbuild/protobuf";
import { GetSizeRequestSchema, ImagesService } from "@moorage/api/messages";
import { ImageConfig_ExposedPortSchema, ImageConfig_VolumeSchema, Registry } from "@moorage/api/v1/registry";
import { validate } from "@moorage/kernel/aip/validate";
import type { ServiceContext } from "@moorage/kernel/core/service";
import { imageFor, runConfigOf } from "@moorage/registry/registry";
import { reading, type Translation } from "../service.ts";

const { getArchitectures, getSize } = ImagesService.method;

/** The fields of v2's requests about images by their names in v1. */
export const imageFields = {
  pathOf: (path: string): string => (path === "architecture" ? "arch" : path),
};

export function images({
  readBlob,
}: Pick<ServiceContext, "readBlob">): Pick<Translation<typeof Registry>, "getArchs" | "getImageConfig" | "getSize"> {
  return {
    async getArchs(v2, { repoId: repoUid, digest }) {
      return { archs: (await v2.answer(getArchitectures, { repoUid, digest })).architectures };
    },
    async getSize(v2, { repoId: repoUid, digest, arch: architecture }) {
      const { size, architecture: arch } = await v2.answer(getSize, { repoUid, digest, architecture });
      return { size, arch };
    },
    // The flag `registry` changes nothing: there is no other configuration than the one that the registry serves.
    getImageConfig: reading(
      Registry.method.getImageConfig,
      async (call, { repoId: repo, digest, arch: architecture }) => {
        validate(GetSizeRequestSchema, create(GetSizeRequestSchema, { repoUid: repo, digest, architecture }));
        const place = { call, readBlob, repo };
        const found = await runConfigOf(place, await imageFor(place, { digest, architecture }));
        const { user, exposedPorts, env, entrypoint, cmd, volumes, workingDir, labels, stopSignal } = found;
        return {
          user,
          exposedPorts: Object.fromEntries(exposedPorts.map((port) => [port, create(ImageConfig_ExposedPortSchema)])),
          env,
          entrypoint,
          cmd,
          volumes: Object.fromEntries(volumes.map((path) => [path, create(ImageConfig_VolumeSchema)])),
          workingDir,
          labels,
          stopSignal,
        };
      },
    ),
  };
}
