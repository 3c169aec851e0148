import "@fontsource-variable/geist-mono/wght.css";
import "@fontsource-variable/inter/wght.css";
import "../ui/tokens.css";
import "../ui/base.css";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ControlPieces } from "./controls.tsx";
import { DataPieces } from "./data.tsx";
import { OverlayPieces } from "./overlays.tsx";
import styles from "./pieces.module.css";

// npm run console:pieces: every piece of ui/ in all of its states, to be looked at in both themes and at all widths. It
// is no part of what is built and shipped.
const root = document.getElementById("root");
if (root === null) throw new Error("the page has no element #root");
createRoot(root).render(
  <StrictMode>
    <main className={styles.page}>
      <h1>Pieces of the console</h1>
      <ControlPieces />
      <DataPieces />
      <OverlayPieces />
    </main>
  </StrictMode>,
);
