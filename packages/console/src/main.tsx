import "@fontsource-variable/geist-mono/wght.css";
import "@fontsource-variable/inter/wght.css";
import "./ui/tokens.css";
import "./ui/base.css";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { queryClient, router } from "./app/router.ts";

// After the first page: what is said before is shown then.
const Toasts = lazy(() => import("./ui/toasts.tsx").then(({ Toasts: component }) => ({ default: component })));

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no element #root");
createRoot(root).render(
  <StrictMode>
    {/* The content security policy allows no styles in the page itself. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <Suspense>
          <Toasts />
        </Suspense>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
