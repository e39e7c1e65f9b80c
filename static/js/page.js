// What ordinary pages need; every module looks for its own data-attributes.
import "./counter.js";
import "./focus.js";
import "./jobs.js";
import "./kept-work.js";
import "./local-time.js";
import "./popover.js";
import "./print.js";
import "./sign-out.js";
import "./tabs.js";
import "./upload.js";
// Last: a form that another module takes over is none of its business.
import "./once.js";
