/** The media types of manifests. Source: OCI image specification v1.1, Docker image manifest V2 schema 2. */
export const OCI_INDEX = "application/vnd.oci.image.index.v1+json";
export const OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json";
export const DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";
export const DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json";

const IMAGES: ReadonlySet<string> = new Set([OCI_MANIFEST, DOCKER_MANIFEST]);
const INDEXES: ReadonlySet<string> = new Set([OCI_INDEX, DOCKER_LIST]);

export function isImageType(mediaType: string): boolean {
  return IMAGES.has(mediaType);
}

export function isIndexType(mediaType: string): boolean {
  return INDEXES.has(mediaType);
}

/** The configurations of images that have file systems; other artifacts have other ones. */
/** The media types of the configurations of images with file systems. */
export const IMAGE_CONFIG_TYPES: readonly string[] = [
  "application/vnd.oci.image.config.v1+json",
  "application/vnd.docker.container.image.v1+json",
];

/** Whether it is the configuration of an image with file systems. */
export function isImageConfigType(mediaType: string): boolean {
  return IMAGE_CONFIG_TYPES.includes(mediaType);
}
