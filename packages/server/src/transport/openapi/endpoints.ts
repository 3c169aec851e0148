import type { DescService } from "@bufbuild/protobuf";
import { staticEndpoint, type StaticEndpoint, type StaticOptions } from "./static.ts";
import { viewerEndpoints } from "./viewer.ts";

export interface OpenApiOptions extends Pick<StaticOptions, "answerError"> {
  services: readonly DescService[];
  /** Where the platform is reached; no slash at the end. */
  baseUrl: string;
}

/**
 * The document of the platform API at `/openapi.json`, and a page of it at `/docs`. They need no token: they say
 * nothing of the installation but its URL.
 */
export function openApiEndpoints({ services, baseUrl, answerError }: OpenApiOptions): Record<string, StaticEndpoint> {
  const read = async () => {
    // Nobody who does not ask for it pays for it.
    const [{ openApiDocument }, { COMMENTS }] = await Promise.all([
      import("./document.ts"),
      import("@moorage/api/gen/moorage/comments"),
    ]);
    return {
      type: "application/json",
      content: JSON.stringify(openApiDocument({ services, comments: COMMENTS, baseUrl })),
    };
  };
  return {
    "/openapi.json": staticEndpoint(read, { answerError, headers: { "access-control-allow-origin": "*" } }),
    ...viewerEndpoints({ answerError }),
  };
}
