/** Where an S3 engine stores its objects. */
export interface S3Location {
  bucket: string;
  /** Prefix of every key; empty, or ends with a slash. */
  prefix: string;
  /** Undefined for AWS. */
  endpoint?: string;
  /** Undefined when the SDK's own configuration decides. */
  region?: string;
  /** `https://host/bucket/key` rather than `https://bucket.host/key`. */
  pathStyle: boolean;
}

/** Why the URL of the blob store cannot be used, in one line for the operator. */
export class BlobsUrlError extends Error {}

const FORM = "s3://bucket/prefix?endpoint=https://host:port&region=name&style=path";
const PARAMETERS = ["endpoint", "region", "style"];
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.-]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9_.-]+)*$/;

/**
 * Parses `s3://bucket/prefix?endpoint=https://host:port&region=name&style=path`; everything but the bucket is optional.
 * The style defaults to path with an endpoint and to virtual at AWS. Throws a BlobsUrlError that names the wrong part.
 */
export function parseS3Url(text: string): S3Location {
  const url = URL.parse(text);
  if (url?.protocol !== "s3:") throw new BlobsUrlError(`must look like ${FORM}`);
  // The value may contain a secret, so it is not repeated.
  if (url.username !== "" || url.password !== "")
    throw new BlobsUrlError("takes no user and password: credentials come from where AWS tools read them");
  if (!BUCKET.test(url.host)) throw new BlobsUrlError(`bucket: ${url.host} is not the name of a bucket`);
  if (url.hash !== "") throw new BlobsUrlError(`must look like ${FORM}`);
  const path = url.pathname.replace(/^\//, "").replace(/\/$/, "");
  if (path !== "" && !PREFIX.test(path))
    throw new BlobsUrlError(
      `prefix: ${path} holds something else than letters, digits, and _ . - between single slashes`,
    );
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.includes(name))
      throw new BlobsUrlError(`${name}: no such parameter; ${PARAMETERS.join(", ")} are known`);
    if (url.searchParams.getAll(name).length > 1) throw new BlobsUrlError(`${name}: is given more than once`);
  }
  const endpoint = endpointOf(url.searchParams.get("endpoint") ?? "");
  const region = url.searchParams.get("region") ?? "";
  if (region !== "" && !/^[a-z0-9-]{1,64}$/i.test(region))
    throw new BlobsUrlError(`region: ${region} is not the name of a region`);
  const style = url.searchParams.get("style") || (endpoint === undefined ? "virtual" : "path");
  if (style !== "path" && style !== "virtual") throw new BlobsUrlError(`style: must be path or virtual, not ${style}`);
  if (style === "virtual" && endpoint !== undefined && isAddress(endpoint)) {
    throw new BlobsUrlError("style: virtual needs an endpoint with a host name, not an address");
  }
  // Most servers other than AWS have one region, and call it by the name of AWS' first one.
  const named = region || (endpoint === undefined ? undefined : "us-east-1");
  return {
    bucket: url.host,
    prefix: path === "" ? "" : `${path}/`,
    endpoint,
    region: named,
    pathStyle: style === "path",
  };
}

/** The URL of a location, in one form: `parseS3Url` takes it. */
export function s3UrlOf({ bucket, prefix, endpoint, region, pathStyle }: S3Location): string {
  const url = new URL(`s3://${bucket}/${prefix.replace(/\/$/, "")}`);
  if (endpoint !== undefined) url.searchParams.set("endpoint", endpoint);
  if (region !== undefined) url.searchParams.set("region", region);
  url.searchParams.set("style", pathStyle ? "path" : "virtual");
  return url.href;
}

function endpointOf(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.parse(text);
  const plain =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.username === "" &&
    url.password === "" &&
    url.search === "" &&
    url.hash === "";
  if (!plain) throw new BlobsUrlError("endpoint: must be an http or https URL without user, query and fragment");
  return url.href.replace(/\/$/, "");
}

function isAddress(endpoint: string): boolean {
  const { hostname } = new URL(endpoint);
  return hostname.startsWith("[") || /^[0-9.]+$/.test(hostname);
}
