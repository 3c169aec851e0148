import type { DescService } from "@bufbuild/protobuf";
import { staticEndpoint, type StaticEndpoint, type StaticOptions } from "./static.ts";
import { viewerEndpoints } from "./viewer.ts";

export interface OpenApiOptions extends Pick<StaticOptions, "answerError"> {
  services: readonly DescService[];
  /** The URL of the platform; no slash at the end. */
  baseUrl: string;
  historySegments: readonly string[];
}

/**
 * The document of the platform API at `/openapi.json`, and a page that shows it at `/docs`. They need no token: they
 * reveal nothing of the installation but its URL.
 */
export function openApiEndpoints({ answerError, ...options }: OpenApiOptions): Record<string, StaticEndpoint> {
  const read = async () => {
    // Loaded at the first request for the document.
    const [{ openApiDocument }, { COMMENTS }] = await Promise.all([
      import("./document.ts"),
      import("@moorage/api/gen/moorage/comments"),
    ]);
    return {
      type: "application/json",
      content: JSON.stringify(openApiDocument({ ...options, comments: COMMENTS })),
    };
  };
  return {
    "/openapi.json": staticEndpoint(read, { answerError, headers: { "access-control-allow-origin": "*" } }),
    ...viewerEndpoints({ answerError }),
  };
}
