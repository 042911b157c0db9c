/*
   citations.h: papers that several files cite, in BibTeX, for PETSc's -citations.
*/
#ifndef TRSV_CITATIONS_H
#define TRSV_CITATIONS_H

#define TRSV_CITE_CAPELLINI \
  "@inproceedings{CapelliniSpTRSV,\n" \
  "  author    = {Jiya Su and Feng Zhang and Weifeng Liu and Bingsheng He and Ruofan Wu and Xiaoyong Du and " \
  "Rujia Wang},\n" \
  "  title     = {{CapelliniSpTRSV}: A Thread-Level Synchronization-Free Sparse Triangular Solve on {GPU}s},\n" \
  "  booktitle = {49th International Conference on Parallel Processing (ICPP)},\n" \
  "  year      = {2020}\n" \
  "}\n"

#define TRSV_CITE_BLOCK_MULTICOLOR \
  "@inproceedings{IwashitaNakashimaTakahashi2012,\n" \
  "  author    = {Takeshi Iwashita and Hiroshi Nakashima and Yasuhito Takahashi},\n" \
  "  title     = {Algebraic Block Multi-Color Ordering Method for Parallel Multi-Threaded Sparse Triangular " \
  "Solver in {ICCG} Method},\n" \
  "  booktitle = {26th IEEE International Parallel and Distributed Processing Symposium (IPDPS)},\n" \
  "  year      = {2012}\n" \
  "}\n" \
  "@article{IwashitaLiFukaya2020,\n" \
  "  author  = {Takeshi Iwashita and Senxi Li and Takeshi Fukaya},\n" \
  "  title   = {Hierarchical Block Multi-Color Ordering: A New Parallel Ordering Method for Vectorization " \
  "and Parallelization of the Sparse Triangular Solver in the {ICCG} Method},\n" \
  "  journal = {CCF Transactions on High Performance Computing},\n" \
  "  year    = {2020}\n" \
  "}\n"

#endif
