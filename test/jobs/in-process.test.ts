import { InProcessJobQueue } from "../../src/jobs/in-process/job-queue.js";
import { jobQueueConformance } from "../conformance/job-queue.js";

jobQueueConformance("in process", (store, options) => new InProcessJobQueue({ store, ...options }));
