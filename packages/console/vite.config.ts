import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The server serves index.html for every page, and the rest below /console/.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist",
    assetsDir: "console/assets",
    // A data: URL would have to be allowed by the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Which files belong together: size-limit.config.ts reads it.
    manifest: "manifest.json",
    target: "es2023",
    reportCompressedSize: false,
  },
});
