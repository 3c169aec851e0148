import type { Config } from "@moorage/server";
import type { Client } from "./clients.ts";
import { OWN_COMMAND } from "./own-command.ts";

/**
 * The server to push to, the folder with the sample's layouts, and the flag for `moorage` that names the data folder
 * ("" or " --data-dir …").
 */
export type PushContext = { readonly config: Config; readonly layout: string; readonly dataDirFlag: string };

/**
 * The lines that push one build of the sample image to `path` (`organization/image:tag`) with an installed client;
 * without an OCI client, `moorage` itself pushes it. The lines use the shell variable TOKEN.
 */
export function pushLines(
  client: Client | undefined,
  { config, layout, dataDirFlag }: PushContext,
  build: 1 | 2,
  path: string,
): string[] {
  const plain = config.registryUrl.startsWith("http:");
  const target = `${config.registryAudience}/${path}`;
  const folder = `${layout}/build${build}`;
  switch (client) {
    case "skopeo":
      return [
        `skopeo copy --all${plain ? " --dest-tls-verify=false" : ""} --dest-creds "moorage:$TOKEN" oci:${folder}:latest docker://${target}`,
      ];
    case "crane":
      return [
        `crane auth login ${config.registryAudience} -u moorage -p "$TOKEN"`,
        `crane push${plain ? " --insecure" : ""} ${folder} ${target}`,
      ];
    case "podman":
    case "buildah": {
      const list = `localhost/moorage-sample:build${build}`;
      return [
        `${client} manifest rm ${list} 2>/dev/null; ${client} manifest create --all ${list} oci:${folder}:latest`,
        `${client} manifest push --all${plain ? " --tls-verify=false" : ""} --creds "moorage:$TOKEN" ${list} docker://${target}`,
      ];
    }
    case "oras":
      return [
        `oras cp${plain ? " --to-plain-http" : ""} --to-username moorage --to-password "$TOKEN" --from-oci-layout ${folder}:latest ${target}`,
      ];
    default:
      return [`${OWN_COMMAND} sample --build ${build} --push ${config.registryUrl}/${path}${dataDirFlag}`];
  }
}
